"""The marks and axes of the charts that grow while a run trains, as pieces of Vega-Lite."""

from typing import Any

from core.figures.palette import GREY, ORANGE, VERMILION

# Vega's own format leaves no space before the sign.
PERCENT = "format(100 * datum.value, '.0f') + '\u00a0%'"


def line(
    field: str,
    colour: str,
    *,
    width: float,
    opacity: float = 1.0,
    params: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """A line of one column, left out where it is empty."""
    layer: dict[str, Any] = {
        "mark": {
            "type": "line",
            "color": colour,
            "strokeWidth": width,
            "opacity": opacity,
            "tooltip": True,
        },
        "transform": [{"filter": f"datum.{field} !== null"}],
        "encoding": {"y": {"field": field, "type": "quantitative"}},
    }
    return {**layer, "params": params} if params else layer


def diamonds() -> dict[str, Any]:
    """Published values, as points."""
    return {
        "mark": {
            "type": "point",
            "shape": "diamond",
            "size": 90,
            "color": VERMILION,
            "strokeWidth": 2,
            "tooltip": True,
        },
        "transform": [{"filter": "datum.published !== null"}],
        "encoding": {"y": {"field": "published", "type": "quantitative"}},
    }


def floor_line(floor: float) -> dict[str, Any]:
    """A dashed line across the chart at one value."""
    return {
        # Data of its own, or the rule would be drawn once for every step.
        "data": {"values": [{}]},
        "mark": {
            "type": "rule",
            "strokeDash": [6, 4],
            "color": ORANGE,
            "strokeWidth": 2,
            "aria": False,  # the caption names the floor in words
        },
        "encoding": {"y": {"datum": floor}, "x": None},
    }


def marker(step: int) -> dict[str, Any]:
    """An upright line at one step."""
    return {
        "data": {"values": [{}]},
        "mark": {"type": "rule", "color": GREY, "strokeWidth": 2, "aria": False},
        "encoding": {"x": {"datum": step}},
    }


def with_y(layer: dict[str, Any], title: str, top: float) -> dict[str, Any]:
    """The layer on a y axis from 0 to `top`."""
    scaled = {"title": title, "scale": {"domain": [0, top], "clamp": True, "nice": False}}
    encoding = {**layer["encoding"], "y": {**layer["encoding"]["y"], **scaled}}
    return {**layer, "encoding": encoding}


def share(field: str, colour: str, shape: str, dash: list[int] | None = None) -> dict[str, Any]:
    """A line with points, on a y axis in per cent."""
    line: dict[str, Any] = {"strokeDash": dash} if dash else {}
    return {
        "mark": {
            "type": "line",
            "color": colour,
            "strokeWidth": 2.5,
            "point": {"shape": shape, "color": colour, "size": 50},
            "tooltip": True,
            **line,
        },
        "encoding": {
            "y": {
                "field": field,
                "type": "quantitative",
                "title": "Right",
                "scale": {"domain": [0, 1]},
                "axis": {"labelExpr": PERCENT, "tickCount": 3},
            }
        },
    }


def step_axis(last: int, ticks: int = 6) -> dict[str, Any]:
    """An x axis from 0 to the last step."""
    return {
        "field": "step",
        "type": "quantitative",
        "title": "Step",
        "scale": {"domain": [0, last], "nice": False},
        "axis": {"tickCount": ticks, "grid": False},
    }


def zoom_and_drag() -> list[dict[str, Any]]:
    """What lets a viewer zoom and drag."""
    return [{"name": "zoom", "select": "interval", "bind": "scales"}]
