"""What a run says while it trains: frozen values of numbers and strings, and their JSON lines.

The engine yields these, the command line prints them, the worker stores them, and a recorded run
is a file of them, one JSON object per line. Knows nothing of torch.
"""

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float16


@dataclass(frozen=True)
class Started:
    """The first event. `smoothing_floor` is the lowest loss the smoothed target allows (nats)."""

    recipe: dict[str, Any]
    watch: dict[str, Any]
    device: str
    device_name: str
    threads: int
    processes: int
    parameters: int
    smoothing_floor: float
    versions: dict[str, str]
    resumed_from: int = 0


@dataclass(frozen=True)
class StepDone:
    """One update. `seconds`: training time so far, evaluation and sampling left out."""

    step: int
    loss: float
    learning_rate: float
    gradient_norm: float
    seconds: float


@dataclass(frozen=True)
class Evaluated:
    """Held-out strings reversed exactly, end included, and the share of single letters right."""

    step: int
    exact: int
    of: int
    letters_right: float


@dataclass(frozen=True)
class Sampled:
    """The watched string as the model reverses it at this step, decoded freely."""

    step: int
    source: str
    decoded: str
    expected: str

    @property
    def right(self) -> tuple[bool, ...]:
        """For each letter of `decoded`, whether it is the expected one in that place."""
        padded = self.expected.ljust(len(self.decoded), " ")
        return tuple(got == want for got, want in zip(self.decoded, padded, strict=False))

    @property
    def exact(self) -> bool:
        return self.decoded == self.expected


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Cross-attention of every decoder layer and head on the watched string.

    weights: (layers, heads, n_query, n_key), float16, each row sums to 1. Row i is the decoder
    reading `rows[i]` (BOS, then the true reversed letters) and predicting what comes next;
    column j is `columns[j]`, a letter of the source. `antidiagonal[layer]` is the weight on the
    letter that must come next, averaged over heads and over rows 1 to the string's length.
    """

    step: int
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    weights: Float16[np.ndarray, "layers h n_query n_key"]
    antidiagonal: tuple[float, ...]


@dataclass(frozen=True)
class Saved:
    """A checkpoint was written, complete, at `path`; training can go on from it."""

    step: int
    path: str


@dataclass(frozen=True)
class NotSaved:
    """A checkpoint could not be written, and why; training goes on and the last one is whole."""

    step: int
    sentence: str


@dataclass(frozen=True)
class Failed:
    """The run ended early because the numbers did; `sentence` says so in words."""

    step: int
    learning_rate: float
    sentence: str


@dataclass(frozen=True)
class Finished:
    """The last event of a run that ended well.

    `seconds`: first step's start to last step's end, evaluation left out; `seconds_total`:
    everything. `decoded` maps the watched string to what the model makes of it.
    """

    steps: int
    seconds: float
    seconds_total: float
    exact: int
    of: int
    decoded: dict[str, str] = field(default_factory=dict)


Event = Started | StepDone | Evaluated | Sampled | Snapshot | Saved | NotSaved | Failed | Finished

_NAMES: dict[str, type[Any]] = {
    "started": Started,
    "step": StepDone,
    "evaluated": Evaluated,
    "sampled": Sampled,
    "snapshot": Snapshot,
    "saved": Saved,
    "not_saved": NotSaved,
    "failed": Failed,
    "finished": Finished,
}
_NAME_OF = {kind: name for name, kind in _NAMES.items()}


def event_name(event: Event) -> str:
    """The word that stands for this kind of event in JSON: started, step, evaluated, ..."""
    return _NAME_OF[type(event)]


def to_json_line(event: Event) -> str:
    """One line of JSON, `event` first; a number that is none becomes null.

    Attention weights are rounded to 4 decimals, other numbers to 7 digits.
    """
    values = {name: _short(value) for name, value in asdict(event).items()}
    if isinstance(event, Snapshot):
        # float16 holds 3 to 4 digits; more would be noise that triples the file.
        values["weights"] = np.round(event.weights.astype(np.float64), 4).tolist()
    return json.dumps({"event": event_name(event), **values}, ensure_ascii=False)


def from_json_line(line: str) -> Event:
    """The event that `to_json_line` wrote. Raises ValueError when the line is not one."""
    values = json.loads(line)
    if not isinstance(values, dict) or values.get("event") not in _NAMES:
        raise ValueError(f"This line is not a training event: {line[:80]!r}.")
    kind = _NAMES[values.pop("event")]
    if kind is StepDone:
        values = {name: math.nan if value is None else value for name, value in values.items()}
    if kind is Snapshot:
        values["weights"] = np.asarray(values["weights"], dtype=np.float16)
        for name in ("rows", "columns", "antidiagonal"):
            values[name] = tuple(values[name])
    event: Event = kind(**values)
    return event


def _short(value: Any) -> Any:
    """7 digits are all that float32 has; JSON has no word for a number that is none."""
    if not isinstance(value, float):
        return value
    return float(f"{value:.7g}") if math.isfinite(value) else None


def read_events(lines: Iterable[str]) -> Iterator[Event]:
    """Events from lines of a file, blank lines left out."""
    for line in lines:
        if line.strip():
            yield from_json_line(line)
