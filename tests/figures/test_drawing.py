"""A drawn figure is what was given, sent as it is, and a whole Plotly figure when one is asked."""

import base64
import copy
import json
import pickle

import numpy as np
import plotly.graph_objects as go
import pytest

from core.figures.palette import Drawing, base_layout, draw

Z = np.arange(6, dtype=np.float32).reshape(2, 3) / 7


def unpacked(z) -> np.ndarray:
    if isinstance(z, np.ndarray):
        return z
    return np.frombuffer(base64.b64decode(z["bdata"]), "<" + z["dtype"]).reshape(2, 3)


def heat() -> Drawing:
    trace = {"type": "heatmap", "z": Z, "x": np.array([5, 6, 7]), "colorscale": "Cividis"}
    return draw([trace], base_layout(height=123))


def test_what_is_sent_are_the_numbers_given() -> None:
    sent = json.loads(heat().to_json())
    z, x = sent["data"][0]["z"], sent["data"][0]["x"]
    assert np.array_equal(unpacked(z), Z)
    assert z["shape"] == "2, 3"
    assert x == [5, 6, 7]
    assert "title" not in sent["layout"]  # None means left out


def test_plotly_accepts_what_is_sent() -> None:
    checked = go.Figure(heat().to_dict())  # raises ValueError for a property or value unknown
    assert checked.layout.height == 123
    assert np.array_equal(unpacked(checked.data[0].z), Z)


def test_objects_are_made_when_asked_for_and_then_count() -> None:
    figure = heat()
    assert np.array_equal(figure.data[0].z, Z)
    figure.update_layout(height=77)
    figure.add_trace(go.Scatter(y=[1]))
    assert figure.to_dict()["layout"]["height"] == 77
    assert [trace["type"] for trace in figure.to_dict()["data"]] == ["heatmap", "scatter"]


@pytest.mark.parametrize("again", [copy.deepcopy, lambda f: pickle.loads(pickle.dumps(f))])
@pytest.mark.parametrize("looked_at", [False, True])
def test_it_can_be_copied(again, looked_at: bool) -> None:
    figure = heat()
    if looked_at:
        assert figure.layout.height == 123
    copied = again(figure)
    assert np.array_equal(unpacked(copied.data[0].z), Z)
    assert copied.layout.height == 123


def test_an_unknown_name_is_no_property() -> None:
    with pytest.raises(AttributeError):
        _ = heat().never_heard_of
