"""Waves, their periods, the shift as a rotation, rotary positions, and the modules."""

import math
from typing import Any

import numpy as np
import pytest
import torch

from core.transformer.positions import PositionalEncoding
from core.transformer.rotary import relative_error, rotary_scores, rotate
from core.transformer.waves import (
    cosine_by_distance,
    periods,
    shift_rotation,
    shift_rotation_error,
    sinusoidal_table,
)


def test_published_entries(golden: dict[str, Any]) -> None:
    wide, small = golden["positions"]["table_d512"], golden["positions"]["table_50x16"]
    np.testing.assert_allclose(
        sinusoidal_table(2, 512)[1, :4], wide["pos1_dims0to3"], atol=wide["tol"]
    )
    table = sinusoidal_table(*small["shape"])
    assert list(table.shape) == small["shape"]
    np.testing.assert_allclose(table[0, :4], small["pos0_dims0to3"], atol=small["tol"])
    np.testing.assert_allclose(table[1, :4], small["pos1_dims0to3"], atol=small["tol"])
    assert table[10] @ table[11] > table[10] @ table[40]


def test_published_similarities_and_periods(golden: dict[str, Any]) -> None:
    known = golden["positions"]
    cosine = cosine_by_distance(11, 512)
    assert cosine[1] == pytest.approx(known["cosine_PE0_PE1_d512"], abs=known["cosine_tol"])
    assert cosine[10] == pytest.approx(known["cosine_PE0_PE10_d512"], abs=known["cosine_tol"])
    for dimension, period in known["periods_d512"].items():
        if dimension != "tol":
            ours = periods(512)[int(dimension) // 2]
            assert ours == pytest.approx(period, abs=known["periods_d512"]["tol"])


def test_table_by_loop() -> None:
    table = sinusoidal_table(11, 6)
    for position in range(11):
        for i in range(3):
            angle = position / 10_000 ** (2 * i / 6)
            assert table[position, 2 * i] == pytest.approx(math.sin(angle), abs=1e-15)
            assert table[position, 2 * i + 1] == pytest.approx(math.cos(angle), abs=1e-15)


def test_cosine_is_the_same_for_every_pair_at_a_distance() -> None:
    table, curve = sinusoidal_table(23, 34), cosine_by_distance(23, 34)
    for first, second in [(3, 8), (17, 22), (8, 3)]:
        a, b = table[first], table[second]
        cosine = a @ b / np.linalg.norm(a) / np.linalg.norm(b)
        assert cosine == pytest.approx(curve[abs(first - second)], abs=1e-12)


def test_a_shift_is_a_rotation() -> None:
    matrix = shift_rotation(5, 14)
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(14), atol=1e-12)
    assert np.linalg.det(matrix) == pytest.approx(1)
    table = sinusoidal_table(30, 14)
    np.testing.assert_allclose(matrix @ table[17], table[22], atol=1e-12)
    assert shift_rotation_error(5, 200, 14) < 1e-10
    assert shift_rotation_error(0, 7, 14) == 0


def test_rotary_scores_depend_on_the_distance_alone() -> None:
    random = np.random.default_rng(0)
    query, key = random.normal(size=(2, 22))
    scores = rotary_scores(query, key, 13)
    assert relative_error(scores) < 1e-12
    assert scores[4, 4] == pytest.approx(query @ key)
    # The same with complex numbers: pair i of the query times exp(1j * position * frequency).
    frequency = 10_000.0 ** (-np.arange(0, 22, 2) / 22)
    q, k = (v[0::2] + 1j * v[1::2] for v in (query, key))
    expected = np.real(q * np.exp(1j * 9 * frequency) @ np.conj(k * np.exp(1j * 2 * frequency)))
    assert scores[9, 2] == pytest.approx(expected)


def test_relative_error_sees_absolute_positions() -> None:
    table = sinusoidal_table(13, 22) + 1.0
    assert relative_error(table @ np.diag(np.arange(22.0)) @ table.T) > 1


def test_rotation_keeps_lengths() -> None:
    x = np.random.default_rng(1).normal(size=(7, 10))
    turned = rotate(x, np.arange(100, 107))
    np.testing.assert_allclose(np.linalg.norm(turned, axis=1), np.linalg.norm(x, axis=1))


@pytest.mark.parametrize("width", [0, 7, -2])
def test_widths_without_pairs_are_refused(width: int) -> None:
    with pytest.raises(ValueError, match="even width"):
        sinusoidal_table(3, width)


def test_encoding_is_a_buffer_that_is_saved_and_never_trained() -> None:
    module = PositionalEncoding(14, 23, dropout=0.0)
    assert list(module.parameters()) == []
    assert module.state_dict()["table"].shape == (23, 14)
    x = torch.zeros(2, 5, 14)
    torch.testing.assert_close(module(x)[1].double(), torch.tensor(sinusoidal_table(5, 14)))
    torch.testing.assert_close(module(x, offset=3)[0], module.table[3:8])


def test_positions_beyond_the_table_are_refused() -> None:
    module = PositionalEncoding(14, 23)
    with pytest.raises(ValueError, match="Position 24 is beyond the 23"):
        module(torch.zeros(1, 5, 14), offset=19)
