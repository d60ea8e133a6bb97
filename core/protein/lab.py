"""In the lab: a linear classifier on the model's vectors, judged on receptors it has not seen.

In: vectors (n, d), labels, and each receptor's CDR3. Out: cross-validated predictions, ROC and
confusion, with warnings when the result should not be trusted. Knows nothing of files or models.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

MAX_RECEPTORS, MAX_CLASSES = 5000, 12
SMALL_CLASS, FOLDS = 10, 5


class LabError(ValueError):
    """Labels from which nothing can be learnt; the message says why and what to do."""


@dataclass(frozen=True)
class Roc:
    """One class against the rest: false and true positive rates by falling score, and the area."""

    label: str
    false_positive: Float[np.ndarray, " points"]
    true_positive: Float[np.ndarray, " points"]
    area: float


@dataclass(frozen=True)
class LabReport:
    """What cross-validation found.

    `probabilities` (n, classes) were each made by a classifier that did not see the receptor,
    nor any other with its CDR3. `confusion[i, j]`: receptors of class i called j. `accuracy` is
    balanced (mean over classes of the share called right); `by_chance` is 1 / classes.
    `accuracy_with_leak` lets receptors with the same CDR3 sit on both sides, for comparison.
    """

    labels: tuple[str, ...]
    counts: tuple[int, ...]
    folds: int
    probabilities: Float[np.ndarray, "n classes"]
    confusion: Int[np.ndarray, "classes classes"]
    rocs: tuple[Roc, ...]
    accuracy: float
    accuracy_with_leak: float
    warnings: tuple[str, ...]

    @property
    def by_chance(self) -> float:
        """Balanced accuracy of guessing."""
        return 1 / len(self.labels)


def cross_validate(
    vectors: Float[np.ndarray, "n d_model"],
    labels: Sequence[str],
    cdr3s: Sequence[str],
    *,
    folds: int = FOLDS,
    seed: int = 0,
) -> LabReport:
    """Logistic regression on standardised vectors, receptors with one CDR3 kept on one side.

    Raises LabError when there is one class only, too few receptors or far too many.
    """
    names, truth = np.unique(np.asarray(labels), return_inverse=True)
    _check(vectors, names, truth, cdr3s)
    folds = min(folds, _fewest_cdr3s(truth, cdr3s))
    probabilities = _held_out(vectors, truth, np.asarray(cdr3s), folds, seed)
    leaking = _held_out(vectors, truth, None, folds, seed)
    called = probabilities.argmax(axis=1)
    return LabReport(
        labels=tuple(str(name) for name in names),
        counts=tuple(int(n) for n in np.bincount(truth)),
        folds=folds,
        probabilities=probabilities,
        confusion=_confusion(truth, called, len(names)),
        rocs=tuple(_roc(str(n), truth == i, probabilities[:, i]) for i, n in enumerate(names)),
        accuracy=_balanced(truth, called),
        accuracy_with_leak=_balanced(truth, leaking.argmax(axis=1)),
        warnings=tuple(_warnings(names, truth, cdr3s)),
    )


def _check(vectors: np.ndarray, names: np.ndarray, truth: np.ndarray, cdr3s: Sequence[str]) -> None:
    if not len(vectors) == len(truth) == len(cdr3s):
        raise LabError(f"{len(vectors)} vectors, {len(truth)} labels and {len(cdr3s)} CDR3s.")
    if len(truth) > MAX_RECEPTORS:
        raise LabError(f"{len(truth):,} receptors; at most {MAX_RECEPTORS:,} are read here.")
    if not 2 <= len(names) <= MAX_CLASSES:
        raise LabError(
            f"The labels hold {len(names)} classes: 2 to {MAX_CLASSES} are needed. Choose another "
            "column."
        )
    if _fewest_cdr3s(truth, cdr3s) < 2:
        raise LabError("A class needs at least 2 receptors with different CDR3s to be tested.")


def _fewest_cdr3s(truth: np.ndarray, cdr3s: Sequence[str]) -> int:
    groups = np.asarray(cdr3s)
    return min(len(set(groups[truth == i])) for i in np.unique(truth))


def _held_out(
    vectors: np.ndarray, truth: np.ndarray, groups: np.ndarray | None, folds: int, seed: int
) -> np.ndarray:
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    classifier = make_pipeline(
        StandardScaler(), LogisticRegression(C=0.1, class_weight="balanced", max_iter=2000)
    )
    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    split = kind(n_splits=folds, shuffle=True, random_state=seed)
    parts = list(split.split(vectors, truth, groups))
    if any(len(np.unique(truth[train])) < truth.max() + 1 for train, _ in parts):
        raise LabError("The receptors of a class share too few CDR3s to be kept on one side.")
    return np.asarray(
        cross_val_predict(classifier, vectors, truth, cv=parts, method="predict_proba")
    )


def _confusion(truth: np.ndarray, called: np.ndarray, classes: int) -> np.ndarray:
    table = np.zeros((classes, classes), dtype=np.int64)
    np.add.at(table, (truth, called), 1)
    return table


def _balanced(truth: np.ndarray, called: np.ndarray) -> float:
    return float(np.mean([(called[truth == i] == i).mean() for i in np.unique(truth)]))


def _roc(label: str, positive: np.ndarray, score: np.ndarray) -> Roc:
    from sklearn.metrics import auc, roc_curve

    false_positive, true_positive, _ = roc_curve(positive, score)
    return Roc(label, false_positive, true_positive, float(auc(false_positive, true_positive)))


def _warnings(names: np.ndarray, truth: np.ndarray, cdr3s: Sequence[str]) -> list[str]:
    found = []
    for i, name in enumerate(names):
        count = int((truth == i).sum())
        if count < SMALL_CLASS:
            found.append(f"Class {name} has {count} receptors: its numbers are mostly luck.")
    times = Counter(cdr3s)
    repeated = sum(n for n in times.values() if n > 1)
    if repeated:
        found.append(
            f"{repeated} of {len(cdr3s)} receptors share their CDR3 with another. They were kept "
            "on the same side; at random, the classifier would be tested on what it has seen."
        )
    classes_of: dict[str, set[int]] = {}
    for cdr3, label in zip(cdr3s, truth, strict=True):
        classes_of.setdefault(cdr3, set()).add(int(label))
    torn = sum(len(classes) > 1 for classes in classes_of.values())
    if torn:
        found.append(f"{torn} CDR3s carry more than one label: nobody could tell those apart.")
    return found
