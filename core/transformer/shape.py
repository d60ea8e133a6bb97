"""What a Transformer is made of, as one frozen value: sizes, norm placement, ablations.

In: numbers from a recipe, a form or a URL. Out: a checked value that can be compared, hashed
and stored. Knows nothing of PyTorch, so that a page can check and count without loading it.
"""

from dataclasses import dataclass

Axes = tuple[str, ...]
LIMITS = {
    "src_vocab": 200_000,
    "tgt_vocab": 200_000,
    "d_model": 8_192,
    "num_heads": 128,
    "d_ff": 65_536,
    "num_layers": 128,
    "max_len": 100_000,
}


@dataclass(frozen=True)
class ModelShape:
    """Sizes and switches of one encoder-decoder; the defaults are the paper's base model.

    Source: Vaswani et al. 2017, table 3, first row. `pre_norm` moves LayerNorm inside the
    residual branch (Xiong et al. 2020). The last three switches break the model on purpose.

    Raises ValueError, with a sentence for a visitor, for sizes that cannot be built.
    """

    src_vocab: int
    tgt_vocab: int
    d_model: int = 512
    num_heads: int = 8
    d_ff: int = 2048
    num_layers: int = 6
    dropout: float = 0.1
    max_len: int = 5000
    pre_norm: bool = False
    use_positions: bool = True
    causal: bool = True
    use_cross_attention: bool = True

    def __post_init__(self) -> None:
        for name, most in LIMITS.items():
            value = getattr(self, name)
            if not 1 <= value <= most:
                raise ValueError(f"{name} is {value:,}; it must lie between 1 and {most:,}.")
        if self.d_model % self.num_heads:
            raise ValueError(
                f"d_model {self.d_model} cannot be divided among {self.num_heads} heads: "
                f"{self.d_model} / {self.num_heads} is not a whole number."
            )
        if self.d_model % 2:
            raise ValueError(
                f"d_model is {self.d_model}; it must be even, because positions are written "
                "as pairs of a sine and a cosine."
            )
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout is {self.dropout}; it must be at least 0 and below 1.")

    @property
    def d_k(self) -> int:
        """Width of one head's queries and keys."""
        return self.d_model // self.num_heads


@dataclass(frozen=True)
class Sizes:
    """What the axes of a shape stand for: a batch of B sources and targets, and a model."""

    batch: int
    n_src: int
    n_tgt: int
    shape: ModelShape

    def of(self, axes: Axes) -> tuple[int, ...]:
        """The number behind each axis name."""
        values = {
            "B": self.batch,
            "n_src": self.n_src,
            "n_tgt": self.n_tgt,
            "d_model": self.shape.d_model,
            "h": self.shape.num_heads,
            "d_k": self.shape.d_k,
            "d_ff": self.shape.d_ff,
            "V_src": self.shape.src_vocab,
            "V_tgt": self.shape.tgt_vocab,
        }
        return tuple(values[axis] for axis in axes)
