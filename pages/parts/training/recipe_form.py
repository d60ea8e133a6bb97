"""The form that builds a training recipe: a preset, every setting, and ways to break it.

Widgets take their labels, sentences and bounds from `core.training.limits`; the recipe checks
them again. Each setting lives in the URL, under `r_s_` (sprint) or `r_p_` (paper) and its name.
"""

from dataclasses import replace
from textwrap import shorten
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.training.limits import NUMBERS, SWITCHES, Setting
from core.training.recipe import LONGEST_NAME, OPTIMISERS, RECIPES, SCHEDULES, Recipe
from core.written import typeset

PRESETS = {"Paper": "paper", "Sprint": "sprint"}
_WHAT_PRESETS_ARE = (
    "**Paper** is the recipe of the 2017 article, made small; **Sprint** learns the same task "
    "with the same model as fast as we know how."
)
BREAKS: dict[str, tuple[str, dict[str, Any]]] = {
    "positions": ("No positional encoding", {"positions": False}),
    "mask": ("No causal mask", {"causal_mask": False}),
    "warmup": ("No warm-up", {"warmup": 0}),
    "cross": ("No cross-attention", {"cross_attention": False}),
    "one_head": ("One head", {"num_heads": 1}),
}
_WHAT_BREAKS = {
    "positions": "The model reads a bag of letters: it knows which, not where.",
    "mask": "While training it sees the answer it must give, so it copies instead of learning.",
    "warmup": "The first steps are as large as the largest.",
    "cross": "The decoder never sees the source: it can only guess letters.",
    "one_head": "One attention pattern per layer instead of four.",
}
_CHOICES = {
    "schedule": (
        "Schedule",
        SCHEDULES,
        "How the learning rate changes: the paper's inverse square root, or a straight line "
        "down from the peak.",
    ),
    "optimiser": (
        "Optimiser",
        OPTIMISERS,
        "Adam scales each weight's step by itself; Muon makes the step of a whole matrix "
        "orthogonal.",
    ),
}
_LINEAR_ONLY = ("peak", "final_fraction", "decay_power")

_GROUPS = {
    "Model": [
        *("d_model", "num_heads", "d_ff", "num_layers", "dropout"),
        *("embedding_scale", "branch_scale", "xavier"),
        *("positions", "causal_mask", "cross_attention"),
    ],
    "Task": ["min_length", "max_length", "seed", "beam"],
}


def recipe_form(below: DeltaGenerator) -> Recipe | None:
    """Draw the form in the current container; the recipe, or None after saying what is wrong.

    Sentences go `below`, where they move no button.
    """
    preset = _preset_choice()
    damaged = _damaged(preset)
    with st.popover("Every setting", icon=":material/tune:"):
        st.caption(_WHAT_PRESETS_ARE)
        changes = _settings(preset)
    with st.popover("Break it", icon=":material/heart_broken:"):
        st.caption("Take one part away and watch what no longer works.")
        changes |= _breaks()
    if damaged:
        below.warning(" ".join(damaged))
    try:
        changed = {name: value for name, value in changes.items() if value != _of(preset, name)}
        return replace(preset, **changed, name=_name(preset, changed))
    except ValueError as problem:
        below.error(str(problem), icon=":material/error:")
        return None


def _name(preset: Recipe, changed: dict[str, Any]) -> str:
    """The preset and what differs from it, as much as a name holds: runs are compared by name."""
    parts = (
        (name if value else f"no {name}") if name in SWITCHES
        else value if name in _CHOICES
        else f"{name} {value:.10g}"
        for name, value in changed.items()
    )  # fmt: skip
    return shorten(", ".join((preset.name, *parts)), LONGEST_NAME, placeholder=" …")


def taken_away(recipe: Recipe) -> list[str]:
    """What this recipe does without, as "No causal mask: why it matters" sentences."""
    return [
        f"{label}: {_WHAT_BREAKS[key][0].lower()}{_WHAT_BREAKS[key][1:]}"
        for key, (label, change) in BREAKS.items()
        if all(_of(recipe, name) == value for name, value in change.items())
    ]


def _damaged(preset: Recipe) -> list[str]:
    """A sentence for each number in the address that cannot be used; its default stands in."""
    return [
        f"{setting.label} in the address must be a number from {typeset(setting.low, 'g')} to "
        f"{setting.high:,g}; it is {typeset(_of(preset, name), 'g')} here."
        for name, setting in NUMBERS.items()
        if not _is_within(st.query_params.get(_key(preset, name)), setting)
    ]


def _is_within(text: str | None, setting: Setting) -> bool:
    try:
        return text is None or setting.low <= float(text) <= setting.high
    except ValueError:
        return False


def _preset_choice() -> Recipe:
    chosen = st.segmented_control(
        "Recipe",
        list(PRESETS),
        default="Sprint",
        key="r_base",
        bind="query-params",
        required=True,
        label_visibility="collapsed",
    )
    return RECIPES[PRESETS[chosen or "Sprint"]]


def _settings(preset: Recipe) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    names = [*_CHOICES, *NUMBERS, *SWITCHES]
    grouped = {name for members in _GROUPS.values() for name in members}
    # "Learning" comes first, and in it the schedule, which decides what else is used.
    groups = {"Learning": [name for name in names if name not in grouped], **_GROUPS}
    for tab, members in zip(st.tabs(list(groups)), groups.values(), strict=True):
        columns = tab.columns(2)
        for at, name in enumerate(members):
            with columns[at % 2]:
                unused = name in _LINEAR_ONLY and changes["schedule"] != "linear"
                changes[name] = _widget(preset, name, unused)
    return changes


def _widget(preset: Recipe, name: str, unused: bool) -> Any:
    if name in NUMBERS:
        return _number(preset, name, unused)
    value, key = _of(preset, name), _key(preset, name)
    if name in _CHOICES:
        label, options, sentence = _CHOICES[name]
        at = options.index(value)
        return st.selectbox(label, options, at, key=key, bind="query-params", help=sentence)
    setting = SWITCHES[name]
    return st.toggle(setting.label, value, key=key, bind="query-params", help=setting.sentence)


def _number(preset: Recipe, name: str, unused: bool) -> int | float:
    setting, value = NUMBERS[name], _of(preset, name)
    kind = type(value)
    return st.number_input(
        setting.label,
        min_value=kind(setting.low),
        max_value=kind(setting.high),
        value=value,
        step=1 if kind is int else value / 10 or (setting.high - setting.low) / 20,
        format="%d" if kind is int else "%.4g",
        key=_key(preset, name),
        bind="query-params",
        disabled=unused,
        help=setting.sentence,
    )


def _key(preset: Recipe, name: str) -> str:
    """Each preset has its own boxes, so that choosing the other one shows its own values."""
    return f"r_{preset.name[0]}_{name}"


def _breaks() -> dict[str, Any]:
    changes: dict[str, Any] = {}
    for key, (label, change) in BREAKS.items():
        sentence = f"**{label}.** {_WHAT_BREAKS[key]}"
        if st.toggle(sentence, key=f"r_no_{key}", bind="query-params"):
            changes |= change
    return changes


def _of(recipe: Recipe, name: str) -> Any:
    return getattr(recipe, name)
