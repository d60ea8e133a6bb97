"""How many weights a Transformer has: by formula, and counted on a model that holds none.

In: a ModelShape. Out: plain numbers. The formulas need no PyTorch; the count builds the real
model on torch's meta device, where tensors have shapes and no memory.
"""

from dataclasses import dataclass, replace

from core.transformer.shape import ModelShape


def attention_parameters(d_model: int) -> int:
    """4 d^2 + 4 d: W_q, W_k, W_v, W_o and their biases; the number of heads cancels out."""
    return 4 * d_model**2 + 4 * d_model


def feed_forward_parameters(d_model: int, d_ff: int) -> int:
    """2 d d_ff + d_ff + d."""
    return 2 * d_model * d_ff + d_ff + d_model


def norm_parameters(d_model: int) -> int:
    """2 d: gamma and beta."""
    return 2 * d_model


def encoder_layer_parameters(d_model: int, d_ff: int) -> int:
    """One attention, one feed-forward, two norms."""
    return (
        attention_parameters(d_model)
        + feed_forward_parameters(d_model, d_ff)
        + 2 * norm_parameters(d_model)
    )


def decoder_layer_parameters(d_model: int, d_ff: int, use_cross_attention: bool = True) -> int:
    """Two attentions, one feed-forward, three norms; one fewer without cross-attention."""
    cross = attention_parameters(d_model) + norm_parameters(d_model)
    return encoder_layer_parameters(d_model, d_ff) + (cross if use_cross_attention else 0)


@dataclass(frozen=True)
class Part:
    """One box of the treemap: where it stands, what it is, how many weights it has."""

    inside: str
    name: str
    count: int

    @property
    def path(self) -> str:
        """Its place from the outside in, "Encoder/Layer 1/Attention"."""
        return f"{self.inside}/{self.name}" if self.inside else self.name


def parts_by_formula(shape: ModelShape) -> tuple[Part, ...]:
    """Every part that holds weights, in the order of the forward pass."""
    d, layers = shape.d_model, range(1, shape.num_layers + 1)
    parts = [Part("", "Source embedding", shape.src_vocab * d)]
    parts += [part for n in layers for part in _layer_parts(f"Encoder/Layer {n}", shape, ("Self",))]
    parts += _final_norm("Encoder", shape)
    parts += [Part("", "Target embedding", shape.tgt_vocab * d)]
    kinds = ("Self", "Cross") if shape.use_cross_attention else ("Self",)
    parts += [part for n in layers for part in _layer_parts(f"Decoder/Layer {n}", shape, kinds)]
    parts += _final_norm("Decoder", shape)
    return (*parts, Part("", "Generator", (d + 1) * shape.tgt_vocab))


def _layer_parts(place: str, shape: ModelShape, attentions: tuple[str, ...]) -> list[Part]:
    d = shape.d_model
    parts = [Part(place, f"{kind}-attention", attention_parameters(d)) for kind in attentions]
    parts.append(Part(place, "Feed-forward", feed_forward_parameters(d, shape.d_ff)))
    parts.append(Part(place, "Norms", (len(attentions) + 1) * norm_parameters(d)))
    return parts


def _final_norm(place: str, shape: ModelShape) -> list[Part]:
    return [Part(place, "Final norm", norm_parameters(shape.d_model))] if shape.pre_norm else []


def total_by_formula(shape: ModelShape) -> int:
    """Sum of all parts."""
    return sum(part.count for part in parts_by_formula(shape))


def total_by_counting(shape: ModelShape) -> int:
    """Numbers in the parameters of the real model, built on the meta device."""
    import torch  # Here and not above: the formulas must not cost a page PyTorch's loading time.

    from core.transformer.model import Transformer

    with torch.device("meta"):
        model = Transformer.from_shape(replace(shape, max_len=1))  # positions hold no weights
    return sum(parameter.numel() for parameter in model.parameters())
