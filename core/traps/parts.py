"""The parts of a Transformer, each with its role and a number that shows it at work.

Out: lines of a table, measured on the toy model. NumPy only.
"""

import numpy as np

from core.alphabet import DEFAULT_SEQUENCE, FIRST_LETTER_ID
from core.toy.attention import causal
from core.toy.block import attention_weight_count, feed_forward_weight_count, layer_norm
from core.toy.heads import attend_each, concatenate
from core.toy.jobs import label, reading
from core.toy.residue_vectors import residue_vectors
from core.training.recipe import PAPER
from core.traps.order_toy import shuffle_toy
from core.traps.shown import Shown
from core.written import typeset

LAYERS, WIDTH, DRAWS = 24, 64, 20
QUERY = 5


def parts() -> tuple[Shown, ...]:
    """All parts, from the letters to the scores."""
    return (
        embedding(),
        positional_encoding(),
        attention(),
        several_heads(),
        feed_forward(),
        residual(),
        normalisation(),
        masks(),
        output_head(),
    )


def embedding() -> Shown:
    """Letters become vectors."""
    vector = residue_vectors(DEFAULT_SEQUENCE)[QUERY, :4]
    numbers = ", ".join(typeset(value, "g") for value in vector)
    return Shown(
        "Embedding",
        "Turns a letter into a vector.",
        f"{label(DEFAULT_SEQUENCE, QUERY)} → ({numbers}): hydropathy, charge, polar, aromatic",
    )


def positional_encoding() -> Shown:
    """Order, and its absence."""
    result = shuffle_toy(DEFAULT_SEQUENCE)
    return Shown(
        "Positional encoding",
        "Stamps the vector with its place; without it a sequence is a bag of letters.",
        f"a shuffle changes {result.with_positions.max():.2f} with it, "
        f"{typeset(result.without_positions.max(), '.0e')} without",
    )


def attention() -> Shown:
    """Residues talk."""
    steps = attend_each(residue_vectors(DEFAULT_SEQUENCE))
    return Shown(
        "Attention",
        "Lets residues talk: each gathers from all the others, weighted by fit.",
        reading(DEFAULT_SEQUENCE, steps[0].weights, QUERY),
    )


def several_heads() -> Shown:
    """Several patterns at once."""
    serines = [i for i, letter in enumerate(DEFAULT_SEQUENCE) if letter == "S"]
    steps = attend_each(residue_vectors(DEFAULT_SEQUENCE))
    kinds = [
        len(np.unique(concatenate(steps, muted)[serines].round(6), axis=0))
        for muted in (frozenset({2, 3}), frozenset())
    ]
    return Shown(
        "Several heads",
        "Several conversations side by side, each with its own pattern.",
        f"{len(serines)} serines: {kinds[0]} vector from two heads, {kinds[1]} from four",
    )


def feed_forward() -> Shown:
    """Each residue thinks."""
    ffn = feed_forward_weight_count()
    return Shown(
        "Feed-forward network",
        "Lets each residue think on its own; holds most of the weights.",
        f"{ffn} of the block's {ffn + attention_weight_count()} weights",
    )


def residual() -> Shown:
    """The shortcut for the gradient, through many layers tanh(W x) with Xavier weights."""
    plain, with_shortcut = gradient_left(shortcut=False), gradient_left(shortcut=True)
    return Shown(
        "Residual connection",
        "A shortcut for the gradient: each part adds to the stream instead of replacing it.",
        f"after {LAYERS} layers a gradient has {plain:.2f} of its length without, "
        f"{with_shortcut:.1f} with it",
    )


def normalisation() -> Shown:
    """Each position on its own."""
    x = residue_vectors(DEFAULT_SEQUENCE)
    alone = layer_norm(x[QUERY : QUERY + 1])
    apart = np.abs(layer_norm(x)[QUERY] - alone).max()
    return Shown(
        "LayerNorm",
        "Rescales each position on its own, so batch size and length do not matter.",
        f"{label(DEFAULT_SEQUENCE, QUERY)} alone or among {len(x)}: difference "
        f"{typeset(apart, '.0e')}; spread {alone.std():.2f}",
    )


def masks() -> Shown:
    """Who may look at whom."""
    length = len(DEFAULT_SEQUENCE)
    return Shown(
        "Masks",
        "Padding: nobody looks at filler. Causal: nobody looks ahead.",
        f"causal: {causal(length).sum()} of {length**2} looks are allowed",
    )


def output_head() -> Shown:
    """From vectors to scores."""
    tokens = FIRST_LETTER_ID + len(PAPER.letters)
    return Shown(
        "Output head",
        "Turns the last vector into a score for every token.",
        f"reverse model: {PAPER.d_model} numbers become {tokens} scores at every place",
    )


def gradient_left(*, shortcut: bool) -> float:
    """Length of a random gradient after `LAYERS` layers back, in units of what it was.

    Layers are tanh(W x), plus x where there is a shortcut; W is Xavier-uniform of width 64.
    Geometric mean over `DRAWS` networks.
    """
    logs = []
    for seed in range(DRAWS):
        random = np.random.default_rng(seed)
        x, jacobian = random.normal(size=WIDTH), np.eye(WIDTH)
        for _ in range(LAYERS):
            w = random.uniform(-1, 1, (WIDTH, WIDTH)) * np.sqrt(3 / WIDTH)
            thought = np.tanh(w @ x)
            through = (1 - thought**2)[:, None] * w
            jacobian = (through + shortcut * np.eye(WIDTH)) @ jacobian
            x = thought + shortcut * x
        gradient = random.normal(size=WIDTH)
        logs.append(np.log(np.linalg.norm(gradient @ jacobian) / np.linalg.norm(gradient)))
    return float(np.exp(np.mean(logs)))
