"""Names and snippets that the sections of the protein page share."""

from dataclasses import fields

import numpy as np

from core.alphabet import SequenceError
from core.protein import readout
from core.protein.cards import MODELS, TRB_MINI
from core.protein.chain import MAX_LENGTH, Chain

Pair = tuple[str, Chain]
MODEL_LABELS = {card.name: card.label for card in MODELS}
# Streamlit cuts what is longer; a link of this length still opens in every browser.
MOST_PASTED = 5000
RUN_IT = "# Run this in the project's folder, or with PYTHONPATH=/where/the/project/is\n"
# Published with the source of this app's default chain, for ESM-2 35M; never computed here.
PUBLISHED_MODEL = "ESM-2 35M"
PUBLISHED = {
    1: ("C", 0.982, (("C", 0.98),)),
    6: ("R", 0.031, (("S", 0.18), ("L", 0.12), ("T", 0.11), ("P", 0.08))),
}


def counted(number: int, what: str) -> str:
    """ "1 residue", "1,022 residues"."""
    return f"{number:,} {what}{'s' * (number != 1)}"


def perplexity(table: np.ndarray, chain: Chain) -> str:
    """The pseudo-perplexity as text, without decimals where they say nothing."""
    value = readout.pseudo_perplexity(table, chain)
    return f"{value:.3f}" if value < 1000 else f"{value:,.0f}"


def check_whole(pasted: str) -> str:
    """The text as it is. Raises SequenceError when it fills its box: its end was cut, perhaps."""
    if len(pasted) >= MOST_PASTED:
        raise SequenceError(
            f"This text has {MOST_PASTED:,} characters or more, which is all that fits here, and a "
            f"chain has at most {MAX_LENGTH:,} residues: shorten it, or open several as a file."
        )
    return pasted


def residue_name(chain: Chain, position: int, *, hide: bool = False) -> str:
    """A residue in every numbering at once: "R115 · CDR3 6 · IMGT 110"."""
    numbers = chain.numbers(position)
    letter = "?" if hide else chain.sequence[position - 1]
    parts = [f"{letter}{position}"]
    if numbers.cdr3:
        parts.append(f"CDR3 {numbers.cdr3}")
    if numbers.imgt:
        parts.append(f"IMGT {numbers.imgt}")
    return " · ".join([*parts, chain.region_at(position)])


def residue_names(chain: Chain) -> list[str]:
    """`residue_name` of every residue, in order."""
    return [residue_name(chain, position) for position in range(1, len(chain) + 1)]


def regions(chain: Chain) -> list[tuple[str, int, int]]:
    """The chain's regions as figures take them."""
    return [(region.name, region.start, region.end) for region in chain.regions]


def chain_code(chain: Chain) -> str:
    """Python that rebuilds the chain exactly."""
    kept = [field.name for field in fields(Chain) if field.name != "notes"]
    lines = [f"    {name}={getattr(chain, name)!r}," for name in kept]
    return "\n".join(["chain = Chain(", *lines, ")"])


def strip_code(chain: Chain) -> str:
    """A script that prints each residue's region, its number in the CDR3 and in IMGT's scheme."""
    return f"""{RUN_IT}from core.protein.chain import Chain

{chain_code(chain)}
print("position", "residue", "region", "cdr3", "imgt", sep="\\t")
for position, residue in enumerate(chain.sequence, 1):
    number = chain.numbers(position)
    print(
        position, residue, chain.region_at(position), number.cdr3 or "", number.imgt, sep="\\t"
    )
"""


def guess_code(chain: Chain, model_name: str, position: int) -> str:
    """A script that prints the numbers of one guess."""
    in_numpy = model_name == TRB_MINI.name
    where, model = ("in_numpy", "trb_mini()") if in_numpy else ("weights", f"load({model_name!r})")
    return f"""{RUN_IT}from core.protein.chain import Chain
from core.protein.guess import guess
from core.protein.{where} import {model.partition("(")[0]}

{chain_code(chain)}
answer = guess({model}, chain, {position})
print(answer.model, answer.residue, answer.p_true, answer.entropy_bits, answer.surprise)
for letter, probability in answer.top(20):
    print(letter, probability)
"""


def scan_code(chain: Chain, model_name: str, temperature: float = 1.0) -> str:
    """A script that prints the table of a whole scan."""
    return f"""{RUN_IT}from core.alphabet import AMINO_ACIDS
import numpy as np

from core.protein import readout
from core.protein.chain import Chain
from core.protein.readout import at_temperature, entropy_bits, p_true, pseudo_perplexity
from core.protein.scan import scan
from core.protein.weights import load

{chain_code(chain)}
table = at_temperature(scan(load({model_name!r}), chain), {temperature})
print("pseudo-perplexity", pseudo_perplexity(table, chain))
for position, (p, bits, row) in enumerate(
    zip(p_true(table, chain), entropy_bits(table), table), 1
):
    letter = chain.sequence[position - 1]
    print(position, letter, f"{{p:.4f}}", f"{{bits:.3f}}", *(f"{{v:.4f}}" for v in row))
"""


def compare_code(first: Pair, second: Pair) -> str:
    """A script that prints p(true) of two (model name, chain) side by side."""
    parts = []
    for name, (model_name, chain) in (("first", first), ("second", second)):
        parts.append(chain_code(chain))
        parts.append(f"{name} = p_true(scan(load({model_name!r}), chain), chain)")
    body = "\n".join(parts)
    return f"""{RUN_IT}from core.protein.chain import Chain
from core.protein.readout import p_true
from core.protein.scan import scan
from core.protein.weights import load

{body}
for position, (p, q) in enumerate(zip(first, second), 1):
    print(position, f"{{p:.4f}} {{q:.4f}} {{q - p:+.4f}}")
"""


def lab_code(model_name: str, column: str, only_cdr3: bool) -> str:
    """A script that repeats the lab's cross-validation on a file of receptors."""
    return f"""{RUN_IT}from pathlib import Path

import numpy as np

from core.protein.embeddings import mean_vector
from core.protein.lab import cross_validate
from core.protein.receptors import read_receptors
from core.protein.weights import load

model = load({model_name!r})
column, only_cdr3 = {column!r}, {only_cdr3}
kept = [
    r for r in read_receptors(Path("receptors.tsv").read_text()).good
    if r.fields.get(column, "").strip() and (r.chain.cdr3 or not only_cdr3)
]
vectors = np.array([mean_vector(model, r.chain, cdr3_only=only_cdr3) for r in kept])
labels = [r.fields[column].strip() for r in kept]
report = cross_validate(vectors, labels, [r.chain.cdr3_sequence or r.chain.sequence for r in kept])
print(report.accuracy, report.by_chance, report.confusion, *report.warnings, sep="\\n")
"""
