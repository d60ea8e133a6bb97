"""What page_latency.py does on each page: a table to add rows to.

An action is an address and things to touch in turn, each with the picture that it changes. A
sequence in the address (`{seq}`) makes the action run once per length.
"""

from dataclasses import dataclass

MAIN = '[data-testid="stMain"]'


@dataclass(frozen=True)
class Touch:
    """One change: a CSS selector to click, or to press `key` on; the picture to watch."""

    target: str
    picture: str
    key: str = ""


@dataclass(frozen=True)
class Action:
    """`address` is opened once, then the touches are made in turn, again and again."""

    page: str
    name: str
    address: str
    touches: tuple[Touch, ...]


def buttons(key: str, numbers: tuple[int, ...], picture: str) -> tuple[Touch, ...]:
    """Clicks on pills or segments of the widget `key`, counted from 1."""
    return tuple(
        Touch(f".st-key-{key} [role=radiogroup] > button:nth-of-type({n})", picture)
        for n in numbers
    )


def slides(key: str, picture: str) -> tuple[Touch, ...]:
    """A slider moved one step up, and back."""
    thumb = f'.st-key-{key} [role="slider"], .st-key-{key} input[type="range"]'
    return tuple(Touch(thumb, picture, arrow) for arrow in ("ArrowRight", "ArrowLeft"))


def switch(key: str, picture: str) -> tuple[Touch, ...]:
    """A toggle, on and off."""
    return (Touch(f'.st-key-{key} input[type="checkbox"]', picture),)


_TOY, _FULL, _TRAPS = "/toy_model?seq={seq}", "/full_transformer?seq={seq}", "/traps?seq={seq}"
_MAPS, _ROW = ".st-key-toy_maps", ".st-key-toy_row"

ACTIONS = (
    Action("toy", "residue", _TOY, buttons("t_r", (5, 9, 3, 12, 7), _ROW)),
    Action("toy", "head", _TOY, buttons("t_h", (2, 3, 4, 1), _ROW)),
    Action("toy", "positions", f"{_TOY}&t_e=Switch+something+off", switch("toy_positions", _MAPS)),
    Action("toy", "swap", f"{_TOY}&t_e=Swap+a+residue", buttons("toy_swap", (1, 9, 15), _MAPS)),
    Action(
        "toy",
        "redraw",
        f"{_TOY}&t_c6=true",
        (Touch(".st-key-toy_redraw button", ".st-key-toy_draw"),),
    ),
    Action("full", "chapter", _FULL, buttons("f_part", (2, 1), MAIN)),
    Action("full", "family", _FULL, buttons("f_family", (2, 3, 1), ".st-key-f_drawing")),
    Action("full", "depth", f"{_FULL}&f_part=Depth", slides("f_depth", MAIN)),
    Action(
        "full",
        "decoding step",
        f"{_FULL}&f_part=Decoding&f_beam=3",
        slides("f_step", ".st-key-f_candidates"),
    ),
    Action("traps", "experiment", _TRAPS, buttons("x", (2, 1), MAIN)),
    Action("traps", "mask", f"{_TRAPS}&x=Order", switch("x_causal", ".st-key-traps_order")),
    Action(
        "traps", "length", f"{_TRAPS}&x=Forgetting", slides("x_length", ".st-key-traps_forgetting")
    ),
)
