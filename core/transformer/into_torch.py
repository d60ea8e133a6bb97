"""Our weights copied into the layers of torch.nn that do the same.

In: one of our modules and torch's, of the same sizes. Out: nothing; torch's is changed.
"""

from torch import nn

from core.transformer.attention import MultiHeadAttention
from core.transformer.layers import DecoderLayer, EncoderLayer
from core.transformer.normalisation import LayerNorm


def copy_linear(ours: nn.Linear, theirs: nn.Linear) -> None:
    """Copy a weight and bias."""
    theirs.load_state_dict(ours.state_dict())


def copy_norm(ours: LayerNorm, theirs: nn.LayerNorm) -> None:
    """Copy gamma and beta."""
    theirs.load_state_dict({"weight": ours.gamma, "bias": ours.beta})


def copy_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    """Copy the fused projection (both stack W_q, W_k, W_v) and the output matrix."""
    theirs.in_proj_weight.data.copy_(ours.project_qkv.weight)
    theirs.in_proj_bias.data.copy_(ours.project_qkv.bias)
    copy_linear(ours.project_out, theirs.out_proj)


def copy_encoder_layer(ours: EncoderLayer, theirs: nn.TransformerEncoderLayer) -> None:
    """Copy every weight of an encoder layer."""
    copy_attention(ours.self_attention, theirs.self_attn)
    copy_linear(ours.feed_forward.widen, theirs.linear1)
    copy_linear(ours.feed_forward.narrow, theirs.linear2)
    copy_norm(ours.around_attention.norm, theirs.norm1)
    copy_norm(ours.around_feed_forward.norm, theirs.norm2)


def copy_decoder_layer(ours: DecoderLayer, theirs: nn.TransformerDecoderLayer) -> None:
    """Copy every weight of a decoder layer."""
    copy_attention(ours.self_attention, theirs.self_attn)
    copy_attention(ours.cross_attention, theirs.multihead_attn)
    copy_linear(ours.feed_forward.widen, theirs.linear1)
    copy_linear(ours.feed_forward.narrow, theirs.linear2)
    copy_norm(ours.around_self.norm, theirs.norm1)
    copy_norm(ours.around_cross.norm, theirs.norm2)
    copy_norm(ours.around_feed_forward.norm, theirs.norm3)
