"""What leaves each box, against the model's own forward and single modules."""

import numpy as np
import pytest
import torch

from core.alphabet import BOS
from core.transformer.flow import arrays_by_box
from core.transformer.reading import untrained
from core.transformer.shape import ModelShape
from core.transformer.tour import BOXES
from core.transformer.trace import Trace

SOURCE, OUTPUT = (3, 7, 5, 0, 10), (BOS, 4, 9)


@pytest.mark.parametrize("settings", [{}, {"pre_norm": True}, {"use_positions": False}])
@pytest.mark.parametrize("layer", [1, 3])
def test_the_flow_is_the_models_own(layer: int, settings: dict[str, bool]) -> None:
    model, trace = untrained(ModelShape(11, 13, 14, 7, 17, 3, **settings), 0), Trace()
    arrays = arrays_by_box(model, SOURCE, OUTPUT, layer)
    with torch.no_grad():
        logits = model(torch.tensor([SOURCE]), torch.tensor([OUTPUT]), trace=trace)[0]
    np.testing.assert_allclose(arrays["Generator"], logits, atol=1e-5)
    np.testing.assert_allclose(arrays["Next letter"].sum(1), 1, atol=1e-5)
    for title, name in (("Encoder norm 2", "encoder"), ("Decoder norm 3", "decoder")):
        np.testing.assert_allclose(arrays[title], trace.streams[f"{name}.{layer}"][0], atol=1e-5)
    assert set(arrays) == {box.title for box in BOXES} - {"Source tokens", "Output so far"}


def test_positions_are_what_is_added_to_the_embedding() -> None:
    model = untrained(ModelShape(11, 13, 14, 7, 17, 2), 0)
    arrays = arrays_by_box(model, SOURCE, OUTPUT, 1)
    waves = model.state_dict()["positions.table"][:5].numpy()
    np.testing.assert_allclose(
        arrays["Source positions"] - arrays["Source embedding"], waves, atol=1e-6
    )
    table = model.src_embedding.weight.detach().numpy()
    np.testing.assert_allclose(arrays["Source embedding"][1], table[7] * np.sqrt(14), rtol=1e-5)


def test_a_layer_that_is_not_there() -> None:
    model = untrained(ModelShape(11, 13, 14, 7, 17, 2), 0)
    with pytest.raises(ValueError, match="Layer 3: this model has layers 1 to 2"):
        arrays_by_box(model, SOURCE, OUTPUT, 3)
    assert "Cross-attention" not in arrays_by_box(
        untrained(ModelShape(11, 13, 14, 7, 17, 2, use_cross_attention=False), 0),
        SOURCE,
        OUTPUT,
        1,
    )
