"""The weight file that this app ships, read without PyTorch: names and numbers, nothing else.

In: a path. Out: named arrays, or a WeightsError with a sentence to show. Other weight files are
read by `checkpoint.py`.
"""

import io
import math
import pickle
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np

from core.protein.cards import WeightsError


def read_weights(path: Path) -> dict[str, np.ndarray]:
    """The float16 tensors of a PyTorch file as float32 arrays, without PyTorch.

    Such a file is a zip of raw numbers and a pickle that names them. Nothing but names and
    shapes is accepted from the pickle. Raises WeightsError for anything else.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            content = _OnlyArrays(archive).load()
        return {name: array.astype(np.float32) for name, array in content["model"].items()}
    except Exception as problem:  # a damaged pickle can raise any
        raise WeightsError(f"{path} is not the file this app ships: {problem}.") from problem


class _OnlyArrays(pickle.Unpickler):
    """Reads names, shapes and numbers; whatever else a pickle could call is refused."""

    def __init__(self, archive: zipfile.ZipFile):
        self._folder, _, _ = archive.namelist()[0].partition("/")
        super().__init__(io.BytesIO(archive.read(f"{self._folder}/data.pkl")))
        self._archive = archive

    def find_class(self, module: str, name: str) -> Any:
        if f"{module}.{name}" not in _KNOWN:
            raise pickle.UnpicklingError(f"{module}.{name} in it is not a number")
        return _KNOWN[f"{module}.{name}"]

    def persistent_load(self, pid: Any) -> np.ndarray:
        _, number_type, key, *_ = pid
        # Reading compares the archive's checksum.
        return np.frombuffer(self._archive.read(f"{self._folder}/data/{key}"), number_type)


def _tensor(
    storage: np.ndarray, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], *_: Any
) -> np.ndarray:
    array = storage[offset : offset + math.prod(shape)].reshape(shape)
    if tuple(step // array.itemsize for step in array.strides) != strides:
        raise pickle.UnpicklingError("an array in it is not stored row by row")
    return array


_KNOWN: dict[str, Any] = {
    "torch._utils._rebuild_tensor_v2": _tensor,
    "torch.HalfStorage": "<f2",
    "collections.OrderedDict": OrderedDict,
}
