"""Scans kept on disk under two processes; the lab's classifier and its warnings."""

import multiprocessing
import os

import numpy as np
import pytest

from core.protein.cache import ScanCache, cached_scan_steps
from core.protein.chain import Chain
from core.protein.lab import LabError, cross_validate
from core.protein.model import LanguageModel
from core.protein.scan import Progress

CHAIN = Chain("MKTAYIAKQRQISFVKSHF")


def test_a_scan_is_computed_once(tiny, tmp_path, monkeypatch):
    cache = ScanCache(tmp_path / "scans")
    *_, first = cached_scan_steps(cache, tiny, CHAIN)
    monkeypatch.setattr(type(tiny), "guess_hidden", None)
    (again,) = cached_scan_steps(cache, tiny, Chain(CHAIN.sequence, name="other name"))
    assert again.done == again.total == len(CHAIN)
    assert (again.probabilities == first.probabilities).all()
    assert (again.outside == first.outside).all()


def test_the_key_is_weights_and_letters(tiny, mini, tmp_path):
    cache = ScanCache(tmp_path)
    paths = {cache.path(m, c) for m in (tiny, mini) for c in (CHAIN, CHAIN.mutated(3, "W"))}
    assert len(paths) == 4


def test_a_cancelled_scan_is_not_kept(tiny, tmp_path):
    cache = ScanCache(tmp_path)
    steps = cached_scan_steps(cache, tiny, CHAIN, batch=4)
    next(steps)
    steps.close()
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 nonsense", "half", "wrong shape"])
def test_a_damaged_file_is_computed_again(tiny, tmp_path, damage):
    cache = ScanCache(tmp_path)
    *_, want = cached_scan_steps(cache, tiny, CHAIN)
    path = cache.path(tiny, CHAIN)
    if damage == "half":
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    elif damage == "wrong shape":
        np.savez(path, probabilities=np.ones((2, 20)), outside=np.ones(2))
    else:
        path.write_bytes(damage)
    *_, again = cached_scan_steps(cache, tiny, CHAIN)
    assert again.probabilities == pytest.approx(want.probabilities)
    assert cache.read(tiny, CHAIN) is not None


def test_a_folder_that_cannot_be_written_is_no_error(tiny, tmp_path):
    (tmp_path / "file").write_text("in the way")
    *_, last = cached_scan_steps(ScanCache(tmp_path / "file" / "scans"), tiny, CHAIN)
    assert last.done == len(CHAIN)


def test_only_so_many_are_kept(tiny, tmp_path):
    cache = ScanCache(tmp_path, max_files=3)
    for letter in "ACDEF":
        cache.write(tiny, Chain(letter * 5), Progress(5, 5, np.ones((5, 20)), np.zeros(5)))
    assert len(os.listdir(tmp_path)) == 3


def _hammer(folder, model, seed, problems):
    cache = ScanCache(folder)
    table = np.full((len(CHAIN), 20), 0.05)
    for _ in range(60):
        cache.write(
            model, CHAIN, Progress(len(CHAIN), len(CHAIN), table + seed, np.zeros(len(CHAIN)))
        )
        found = cache.read(model, CHAIN)
        if found is None or len(np.unique(found.probabilities)) != 1:
            problems.put("torn or missing")


def test_two_processes_never_see_half_a_file(tmp_path):
    model = LanguageModel("a", "a", "", None, None, "the same weights")
    context = multiprocessing.get_context("fork")
    problems = context.Queue()
    both = [context.Process(target=_hammer, args=(tmp_path, model, s, problems)) for s in (0, 1)]
    for process in both:
        process.start()
    for process in both:
        process.join()
        assert process.exitcode == 0
    assert problems.empty()
    assert len(os.listdir(tmp_path)) == 1


def receptors(n, classes, shift=2.0, seed=0):
    """Vectors of `n` receptors whose class shows in one dimension of 7; CDR3s all different."""
    rng = np.random.default_rng(seed)
    labels = np.array([f"class {i % classes}" for i in range(n)])
    vectors = rng.normal(size=(n, 7))
    vectors[np.arange(n), np.arange(n) % classes] += shift
    return vectors, labels.tolist(), [f"CASS{i:03d}F" for i in range(n)]


def test_a_class_that_shows_is_learnt():
    vectors, labels, cdr3s = receptors(90, 3, shift=4.0)
    report = cross_validate(vectors, labels, cdr3s)
    assert report.accuracy > 0.9
    assert report.by_chance == pytest.approx(1 / 3)
    assert report.confusion.sum() == 90
    assert report.confusion.sum(1).tolist() == list(report.counts) == [30, 30, 30]
    assert report.probabilities.sum(1) == pytest.approx(1)
    assert all(roc.area > 0.95 for roc in report.rocs)
    assert (report.rocs[0].false_positive[0], report.rocs[0].true_positive[-1]) == (0, 1)
    assert report.warnings == ()


def test_the_reports_numbers_by_hand():
    """Balanced accuracy, confusion and area again, from the probabilities alone."""
    vectors, labels, cdr3s = receptors(53, 3, shift=1.5)
    report = cross_validate(vectors, labels, cdr3s)
    called = [report.labels[i] for i in report.probabilities.argmax(axis=1)]
    pairs = list(zip(labels, called, strict=True))
    table = [[pairs.count((true, said)) for said in report.labels] for true in report.labels]
    assert report.confusion.tolist() == table
    right = [table[i][i] / sum(table[i]) for i in range(3)]
    assert report.accuracy == pytest.approx(sum(right) / 3)
    assert 0.4 < report.accuracy < 0.95
    for i, roc in enumerate(report.rocs):
        scores = list(zip(labels, report.probabilities[:, i], strict=True))
        mine = [score for label, score in scores if label == roc.label]
        others = [score for label, score in scores if label != roc.label]
        # The area is the chance that one of the class scores above one that is not of it.
        above = [(a > b) + (a == b) / 2 for a in mine for b in others]
        assert roc.area == pytest.approx(sum(above) / len(above))


def test_nothing_to_learn_is_chance():
    vectors, labels, cdr3s = receptors(200, 2, shift=0.0)
    report = cross_validate(vectors, labels, cdr3s)
    assert abs(report.accuracy - 0.5) < 0.12
    assert abs(report.rocs[1].area - 0.5) < 0.12


def test_the_same_cdr3_on_both_sides_would_leak_and_is_kept_apart():
    """Ten noisy copies of each CDR3, labels by coin: only a leak can tell the classes apart."""
    rng = np.random.default_rng(3)
    vectors = np.repeat(rng.normal(size=(24, 60)), 10, axis=0) + rng.normal(size=(240, 60)) * 0.05
    labels = np.repeat(rng.permutation(["a", "b"] * 12), 10).tolist()
    cdr3s = np.repeat([f"CASS{i}F" for i in range(24)], 10).tolist()
    report = cross_validate(vectors, labels, cdr3s)
    assert report.accuracy_with_leak > 0.95
    assert report.accuracy < 0.75
    assert "240 of 240 receptors share their CDR3" in report.warnings[0]


def test_tiny_classes_and_torn_cdr3s_are_warned_about():
    vectors, labels, cdr3s = receptors(30, 2)
    labels = ["few" if i < 4 else "many" for i in range(30)]
    cdr3s[0] = cdr3s[29]
    report = cross_validate(vectors, labels, cdr3s)
    assert report.folds == 4
    said = " ".join(report.warnings)
    assert "Class few has 4 receptors" in said
    assert "1 CDR3s carry more than one label" in said


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        (["a"] * 12, "hold 1 classes"),
        ([str(i) for i in range(12)], "at least 2 receptors"),
        ([str(i) for i in range(13)], "hold 13 classes"),
        (["a"] * 11, "12 vectors, 11 labels"),
    ],
)
def test_labels_from_which_nothing_can_be_learnt(labels, says):
    n = max(len(labels), 12)
    vectors, _, cdr3s = receptors(n, 2)
    with pytest.raises(LabError, match=says):
        cross_validate(vectors, labels, cdr3s)
