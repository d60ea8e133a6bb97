"""What a training run is told: the recipe, and how closely it is watched.

In: numbers, switches, JSON. Out: frozen, validated values, or a ValueError with a sentence a
visitor can read. Knows nothing of torch, so pages and the web server may import it.
"""

import reprlib
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, no_type_check

from core.alphabet import AMINO_ACIDS, DEFAULT_SEQUENCE, clean_sequence
from core.training.from_json import FromJson
from core.training.limits import NUMBERS, SWITCHES, Setting
from core.training.size import check_size

SCHEDULES = ("paper", "linear")
OPTIMISERS = ("adam", "muon")
LONGEST_NAME = 60


# Types are checked in __post_init__, which answers in sentences.
@no_type_check
@dataclass(frozen=True)
class Recipe(FromJson):
    """All settings of one run on the reverse task; the defaults are the paper's.

    `limits.NUMBERS` and `limits.SWITCHES` say what each field does and its bounds.
    Source: Vaswani et al. 2017, section 5 (optimiser, schedule, dropout, label smoothing), made
    smaller for strings of 8 to 16 letters.
    """

    name: str = "paper"
    seed: int = 0
    steps: int = 3000
    batch: int = 128
    schedule: Literal["paper", "linear"] = "paper"
    warmup: int = 400
    peak: float = 5e-3
    final_fraction: float = 0.02
    decay_power: float = 1.0
    optimiser: Literal["adam", "muon"] = "adam"
    beta1: float = 0.9
    beta2: float = 0.98
    epsilon: float = 1e-9
    muon_factor: float = 1.0
    label_smoothing: float = 0.1
    clip_norm: float = 1.0
    dropout: float = 0.1
    d_model: int = 64
    num_heads: int = 4
    d_ff: int = 256
    num_layers: int = 2
    embedding_scale: float = 1.0
    branch_scale: float = 1.0
    letters: str = AMINO_ACIDS
    min_length: int = 8
    max_length: int = 16
    beam: int = 1
    positions: bool = True
    causal_mask: bool = True
    cross_attention: bool = True
    xavier: bool = True

    def __post_init__(self) -> None:
        _check_numbers(self, NUMBERS)
        _check_choices(self)
        _check_letters(self.letters)
        if self.d_model % self.num_heads:
            raise ValueError(
                f"The width {self.d_model} cannot be shared equally by {self.num_heads} heads: "
                "choose a width that is a multiple of the heads."
            )
        if self.d_model % 2:
            raise ValueError(
                f"The width {self.d_model} is odd; positions are written as sine and cosine "
                "pairs, so it must be even."
            )
        if self.min_length > self.max_length:
            raise ValueError(
                f"The shortest string ({self.min_length} letters) is longer than the longest "
                f"({self.max_length})."
            )
        check_size(self)


@no_type_check
@dataclass(frozen=True)
class Watch(FromJson):
    """How closely a run is looked at; it changes what is reported and never what is learned.

    Each `*_every` is a number of steps (0 = only at the end). `until_exact` ends the run at the
    first evaluation with at least that many of `held_out` strings reversed exactly. Step 1 and
    the last step are always sampled and the last is always evaluated.
    """

    string: str = DEFAULT_SEQUENCE
    held_out: int = 1000
    evaluate_every: int = 500
    sample_every: int = 50
    snapshot_every: int = 100
    save_every: int = 500
    until_exact: int | None = None

    def __post_init__(self) -> None:
        for name in ("evaluate_every", "sample_every", "snapshot_every", "save_every"):
            _check_number(name, getattr(self, name), Setting(name, "", 0, 20_000), whole=True)
        _check_number("held_out", self.held_out, Setting("Held-out strings", "", 1, 10_000), True)
        if self.until_exact is not None:
            bounds = Setting("until_exact", "", 1, self.held_out)
            _check_number("until_exact", self.until_exact, bounds, whole=True)
        if not self.string:
            raise ValueError("The string to watch is empty: give it at least one letter.")

    def ahead(self, step: int) -> list[int]:
        """Steps from `step` to the next evaluation, sample, snapshot and checkpoint, if any."""
        every = (self.evaluate_every, self.sample_every, self.snapshot_every, self.save_every)
        return [number - step % number for number in every if number]


def check_watched(recipe: Recipe, string: str) -> str:
    """`string` cleaned, if this recipe's model can read it.

    Raises core.alphabet.SequenceError (a ValueError) naming a foreign letter or the length that
    is allowed: 1 to the longest string the model is built for. A length outside
    `recipe.min_length` to `recipe.max_length` is allowed below, and was never trained on.
    """
    return clean_sequence(string, max_length=recipe.max_length, letters=recipe.letters).sequence


def _check_numbers(recipe: Recipe, settings: dict[str, Setting]) -> None:
    whole = {f.name for f in fields(recipe) if f.type in (int, "int")}
    for name, setting in settings.items():
        _check_number(name, getattr(recipe, name), setting, name in whole)
    for name, setting in SWITCHES.items():
        if not isinstance(getattr(recipe, name), bool):
            raise ValueError(f"{setting.label} is on or off (true or false).")


def _check_number(name: str, value: Any, setting: Setting, whole: bool) -> None:
    kind = "a whole number" if whole else "a number"
    right_type = isinstance(value, int) or (not whole and isinstance(value, float))
    if isinstance(value, bool) or not right_type or not setting.low <= value <= setting.high:
        raise ValueError(
            f"{setting.label} ({name}) is {reprlib.repr(value)}; it must be {kind} from "
            f"{_bound(setting.low)} to {_bound(setting.high)}."
        )


def _bound(value: float | int) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,g}"


def _check_choices(recipe: Recipe) -> None:
    if recipe.schedule not in SCHEDULES:
        raise ValueError(f"The schedule is {recipe.schedule!r}; choose {' or '.join(SCHEDULES)}.")
    if recipe.optimiser not in OPTIMISERS:
        raise ValueError(
            f"The optimiser is {recipe.optimiser!r}; choose {' or '.join(OPTIMISERS)}."
        )
    if not isinstance(recipe.name, str) or not 1 <= len(recipe.name) <= LONGEST_NAME:
        raise ValueError(f"A recipe's name has 1 to {LONGEST_NAME} characters.")
    if any("\ud800" <= character <= "\udfff" for character in recipe.name):
        raise ValueError("The recipe's name holds half of a character, which cannot be written.")


def _check_letters(letters: Any) -> None:
    if not isinstance(letters, str) or not letters.isascii() or not letters.isalnum():
        raise ValueError("The alphabet is a row of letters A to Z or digits, nothing else.")
    if letters != letters.upper() or len(set(letters)) != len(letters):
        raise ValueError(f"The alphabet {letters!r} must be upper case, each letter once.")
    if len(letters) < 2:
        raise ValueError("The alphabet has one letter; a reversed string needs at least two.")


PAPER = Recipe()
SPRINT = replace(
    PAPER,
    name="sprint",
    steps=130,
    batch=40,
    schedule="linear",
    warmup=5,
    peak=7e-3,
    final_fraction=0.0,
    decay_power=1.5,
    optimiser="muon",
    muon_factor=2.5,
    dropout=0.0,
    embedding_scale=0.1,
    branch_scale=0.0,
)
RECIPES = {recipe.name: recipe for recipe in (PAPER, SPRINT)}
