"""What page_latency.py does on each page: a table to add rows to.

An action is an address and things to touch in turn, each with the picture that it changes. A
sequence in the address (`{seq}`) makes the action run once per length.
"""

from dataclasses import dataclass, replace

SEQUENCE = "CASSIRSSYEQYF"
PILLS_UP_TO = 16
MAIN = '[data-testid="stMain"]'


@dataclass(frozen=True)
class Touch:
    """One change: a CSS selector to click, or to press `key` on; the picture to watch.

    `by_mouse` clicks where the target is drawn, for marks under a figure's own layers.
    """

    target: str
    picture: str
    key: str = ""
    by_mouse: bool = False


@dataclass(frozen=True)
class Action:
    """`address` is opened once, then the touches are made in turn, again and again.

    `first` is clicked once before them. `long` is touched instead of `touches` where the sequence
    is longer than `PILLS_UP_TO` residues.
    """

    page: str
    name: str
    address: str
    touches: tuple[Touch, ...]
    first: str = ""
    long: tuple[Touch, ...] = ()

    def at(self, length: int) -> "Action":
        """This action for a sequence of `length` residues."""
        address = self.address.format(seq=(SEQUENCE * length)[:length])
        long = self.long if length > PILLS_UP_TO else ()
        return replace(self, address=address, touches=long or self.touches)


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
_ATTENTION = "/esm?e_show=Attention&e_head=2&e_layer"
_MAPS, _ROW, _DRAWING = ".st-key-toy_maps", ".st-key-toy_row", ".st-key-f_drawing"

ACTIONS = (
    Action(
        "toy",
        "residue",
        _TOY,
        buttons("t_r", (5, 9, 3, 12, 7), _ROW),
        long=slides("t_r", _ROW),
    ),
    Action("toy", "head", _TOY, buttons("t_h", (2, 3, 4, 1), _ROW)),
    Action("toy", "positions", f"{_TOY}&t_e=Switch+something+off", switch("toy_positions", _MAPS)),
    Action("toy", "swap", f"{_TOY}&t_e=Swap+a+residue", buttons("toy_swap", (1, 9, 15), _MAPS)),
    Action(
        "toy",
        "redraw",
        f"{_TOY}&t_c6=true",
        (Touch(".st-key-toy_redraw button", ".st-key-toy_draw"),),
    ),
    Action(
        "full",
        "box",
        "/full_transformer?f_flow=true",
        tuple(
            Touch(f"{_DRAWING} .bars .point:nth-child({n})", ".st-key-f_flow_map", by_mouse=True)
            for n in (13, 6, 17, 11)
        ),
    ),
    Action("full", "family", _FULL, buttons("f_family", (2, 3, 1), _DRAWING)),
    Action("full", "norms", _FULL, buttons("f_ln", (2, 1), _DRAWING)),
    Action("full", "chapter", _FULL, buttons("f_part", (2, 1), MAIN)),
    Action("full", "width of positions", _FULL, slides("f_pd", ".st-key-f_table")),
    Action(
        "full",
        "mask",
        f"{_FULL}&f_part=Masks",
        buttons("f_drawn_for", (1, 2), ".st-key-f_mask_Both"),
    ),
    Action("full", "layers", f"{_FULL}&f_part=Weights", slides("f_n", ".st-key-f_treemap")),
    Action("full", "depth", f"{_FULL}&f_part=Depth", slides("f_depth", ".st-key-f_stream")),
    Action(
        "full",
        "head",
        f"{_FULL}&f_part=Cross-attention",
        buttons("f_head", (2, 3, 4, 1), ".st-key-f_untrained"),
    ),
    # The recorded run reads at most 16 letters.
    Action(
        "full",
        "decoding step",
        "/full_transformer?f_part=Decoding&f_beam=3",
        slides("f_step", ".st-key-f_candidates"),
    ),
    Action("esm", "residue", "/esm", buttons("_e_pick", (1, 9, 4, 6), ".st-key-e_bars")),
    Action("esm", "vote", "/esm", switch("e_vote", ".st-key-e_strip")),
    Action(
        "esm",
        "temperature",
        "/esm",
        slides("e_temp", ".st-key-e_track"),
        first=".st-key-e_start_scan button",
    ),
    Action("esm", "layer", f"{_ATTENTION}=3", slides("e_layer", ".st-key-e_attention")),
    Action("esm", "head", f"{_ATTENTION}=3", slides("e_head", ".st-key-e_attention")),
    Action("traps", "experiment", _TRAPS, buttons("x", (2, 1), MAIN)),
    Action(
        "traps",
        "hidden residue",
        f"{_TRAPS}&x_model=TRB-mini",
        buttons("x_hide", (4, 9, 6), ".st-key-traps_importance"),
    ),
    Action("traps", "mask", f"{_TRAPS}&x=Order", switch("x_causal", ".st-key-traps_order")),
    Action(
        "traps",
        "shuffle",
        f"{_TRAPS}&x=Order",
        (Touch(".st-key-x_seed [data-testid=stNumberInputStepUp]", ".st-key-traps_order"),),
    ),
    Action(
        "traps", "length", f"{_TRAPS}&x=Forgetting", slides("x_length", ".st-key-traps_forgetting")
    ),
)
