"""Every setting of a recipe: its name on screen, what it does, and the bounds enforced in core.

Plain values only, no torch: pages build their widgets from this table and `Recipe` validates
against it, so a URL cannot ask for more than a widget offers.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Setting:
    """One number a person may set: label, one sentence, and the inclusive bounds."""

    label: str
    sentence: str
    low: float | int
    high: float | int


NUMBERS: dict[str, Setting] = {
    "steps": Setting("Steps", "How many times the weights are changed.", 1, 20_000),
    "batch": Setting("Batch", "How many random strings each step learns from.", 1, 1024),
    "warmup": Setting(
        "Warm-up steps",
        "The learning rate climbs from zero over this many steps, because early gradients are "
        "wild; 0 starts at the peak at once.",
        0,
        10_000,
    ),
    "peak": Setting(
        "Peak learning rate",
        "The largest step size of a linear schedule; the paper's schedule computes its own.",
        1e-6,
        1.0,
    ),
    "final_fraction": Setting(
        "Final fraction",
        "A linear schedule ends at this fraction of its peak, so that the last steps only polish.",
        0.0,
        1.0,
    ),
    "decay_power": Setting(
        "Decay power",
        "At 1 a linear schedule falls along a straight line; above 1 it falls faster at first and "
        "spends longer on polishing.",
        0.1,
        10.0,
    ),
    "beta1": Setting(
        "Momentum", "How much of the last step's direction is kept (Adam's β₁).", 0.0, 0.999
    ),
    "beta2": Setting(
        "Second-moment memory",
        "How slowly Adam forgets the size of past gradients (Adam's β₂).",
        0.0,
        0.9999,
    ),
    "epsilon": Setting(
        "Epsilon", "Keeps Adam from dividing by zero where gradients vanish.", 1e-12, 1e-2
    ),
    "muon_factor": Setting(
        "Muon factor",
        "With Muon, the matrices inside the layers learn at this many times the learning rate.",
        0.01,
        100.0,
    ),
    "label_smoothing": Setting(
        "Label smoothing",
        "The target gives this share of its certainty to all letters, so the loss levels off "
        "above zero.",
        0.0,
        0.9,
    ),
    "clip_norm": Setting(
        "Gradient clipping",
        "A gradient longer than this is shortened to it, so one bad batch cannot throw the "
        "weights away; 0 turns clipping off.",
        0.0,
        1000.0,
    ),
    "dropout": Setting(
        "Dropout",
        "This share of activations is zeroed at random while training, so no single one is "
        "relied on.",
        0.0,
        0.9,
    ),
    "d_model": Setting("Width d_model", "Numbers that describe one position.", 2, 256),
    "num_heads": Setting(
        "Heads", "Attention runs this many times side by side on slices of the width.", 1, 16
    ),
    "d_ff": Setting("Feed-forward width d_ff", "Hidden units of each position's network.", 1, 1024),
    "num_layers": Setting("Layers", "Encoder layers, and as many decoder layers.", 1, 6),
    "embedding_scale": Setting(
        "Embedding scale",
        "Letters start as vectors this many times their usual length; short ones let the model "
        "notice positions first.",
        0.0,
        10.0,
    ),
    "branch_scale": Setting(
        "Branch scale",
        "The last matrix of every sublayer starts this many times its usual size; at 0 a layer "
        "begins by handing on what it got.",
        0.0,
        10.0,
    ),
    "min_length": Setting("Shortest string", "Strings have at least this many letters.", 1, 64),
    "max_length": Setting("Longest string", "Strings have at most this many letters.", 1, 64),
    "beam": Setting(
        "Beam",
        "Partial answers kept while decoding; 1 always takes the likeliest next letter.",
        1,
        8,
    ),
    "seed": Setting(
        "Seed", "The same seed gives the same strings and the same first weights.", 0, 2**31 - 1
    ),
}

SWITCHES: dict[str, Setting] = {
    "positions": Setting(
        "Positional encoding",
        "Tells each letter where it stands; without it the model reads a bag of letters.",
        0,
        1,
    ),
    "causal_mask": Setting(
        "Causal mask",
        "Hides later target letters while training; without it the model copies the answer it "
        "will not have when it decodes.",
        0,
        1,
    ),
    "cross_attention": Setting(
        "Cross-attention",
        "Lets the decoder look at the source; without it the decoder writes blind.",
        0,
        1,
    ),
    "xavier": Setting(
        "Xavier initialisation",
        "Draws first weights so that signals keep their size through the layers; off draws them "
        "from a plain normal distribution of standard deviation 0.02.",
        0,
        1,
    ),
}

MOST_LETTERS_PER_STEP = 32_768
MOST_LETTERS_IN_ALL = 200_000_000
MOST_NUMBERS_KEPT = 200_000_000  # 0.8 GB
