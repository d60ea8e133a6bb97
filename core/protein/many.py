"""Many receptors from a file to a table: in order, resumable, one bad record never stops the rest.

In: a file in any form that `receptors.py` reads, of any length. Out: a TSV with one row per
record, its error in a column of its own. Knows nothing of pages.
"""

import csv
import itertools
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from core.protein.chain import Chain
from core.protein.genes import ReceptorError
from core.protein.limits import limits
from core.protein.model import LanguageModel
from core.protein.readout import p_true, pseudo_perplexity
from core.protein.receptors import Receptor
from core.protein.rows import PLAIN, Reading
from core.protein.scan import scan_chains
from core.protein.stream import stream_receptors
from core.protein.target import check_header, drop_half_row, held, save

COLUMNS = (
    "row", "name", "model", "scanned", "v_gene", "j_gene", "cdr3", "length",
    "mean_p_true", "pseudo_perplexity", "cdr3_mean_p_true", "cdr3_pseudo_perplexity", "p_true",
    "chain", "notes", "error",
)  # fmt: skip
# Receptors that are scanned together and then written: what a crash may cost.
BLOCK = 32
# Chains whose tables are kept, so that a clone's cells further down are not scanned again.
_KEPT = 1000
_TOKENS = 1000  # of a batch, about: what packed weights are laid out for
Scan = Callable[[list[Chain]], list[np.ndarray]]


@dataclass(frozen=True)
class ManyProgress:
    """`done` records are in the output, `failed` of them with an error; `resumed` were before."""

    done: int
    failed: int
    resumed: int


def scan_many(
    model: LanguageModel,
    source: Path,
    target: Path,
    *,
    how: Reading = PLAIN,
    cdr3_only: bool = False,
    block: int = BLOCK,
    threads: int = 1,
) -> Iterator[ManyProgress]:
    """Scan every receptor of `source`, append to `target`, yield after each block.

    What `target` holds already is kept and not computed again; a half-written last row is
    removed. No other run may write to it meanwhile. `cdr3_only` hides the residues of the CDR3
    alone, about a tenth of the work (chains without one are scanned whole). `threads` chains are
    scanned at once. Raises ReceptorError when `source` holds no receptor, and when `target`
    belongs to another file, model or choice, or to a run that is not over.
    """
    receptors = _some(source, how)
    settings = (model.name, "cdr3" if cdr3_only else "all")
    with held(target) as file:
        done, failed = _resume(target, receptors, settings)
        resumed = done
        yield ManyProgress(done, failed, resumed)
        packed = model.packed(_TOKENS)
        scan_them = partial(scan_chains, model, packed=packed, threads=threads, cdr3_only=cdr3_only)
        known: dict[str, np.ndarray | str] = {}
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        if os.fstat(file.fileno()).st_size == 0:
            writer.writerow(COLUMNS)
        while part := list(itertools.islice(receptors, block)):
            for row in _rows(settings, part, scan_them, known):
                writer.writerow(row)
                failed += bool(row[-1])
            done += len(part)
            save(file)
            yield ManyProgress(done, failed, resumed)


def _some(source: Path, how: Reading) -> Iterator[Receptor]:
    """The receptors of a file; ReceptorError when there is none."""
    receptors = stream_receptors(source, how)
    first = next(receptors, None)
    if first is None:
        raise ReceptorError(f"{source} names its columns and holds no receptor below them.")
    return itertools.chain([first], receptors)


def _rows(
    settings: tuple[str, str],
    receptors: list[Receptor],
    scan_them: Scan,
    known: dict[str, np.ndarray | str],
) -> list[list[str]]:
    """One row per receptor; equal chains are scanned once, and `known` remembers them."""
    new = {r.chain.sequence: r.chain for r in receptors if r.chain}
    known.update(_tables([c for s, c in new.items() if s not in known], scan_them))
    rows = [_row(settings, r, known.get(r.chain.sequence if r.chain else "")) for r in receptors]
    for oldest in list(known)[:-_KEPT]:
        del known[oldest]
    return rows


def _tables(chains: list[Chain], scan_them: Scan) -> dict[str, np.ndarray | str]:
    """Each chain's table, or the sentence saying why there is none."""
    try:
        return dict(zip((c.sequence for c in chains), scan_them(chains), strict=True))
    except FloatingPointError as problem:
        if len(chains) == 1:
            return {chains[0].sequence: str(problem)}
        return {s: t for chain in chains for s, t in _tables([chain], scan_them).items()}


def _row(
    settings: tuple[str, str], receptor: Receptor, table: np.ndarray | str | None
) -> list[str]:
    if receptor.chain is None or not isinstance(table, np.ndarray):
        return _failed(settings, receptor, receptor.error or str(table))
    return _scanned(settings, receptor, receptor.chain, table)


def _scanned(
    settings: tuple[str, str], receptor: Receptor, chain: Chain, table: np.ndarray
) -> list[str]:
    truth = p_true(table, chain)
    inside = np.array(chain.cdr3_positions, dtype=int) - 1
    cdr3 = Chain(chain.cdr3_sequence) if chain.cdr3 else None
    return [
        str(receptor.number),
        _one_line(receptor.name),
        *settings,
        chain.v_gene or "",
        chain.j_gene or "",
        chain.cdr3_sequence,
        str(len(chain)),
        f"{np.nanmean(truth):.6f}",
        f"{pseudo_perplexity(table, chain):.6f}",
        f"{np.nanmean(truth[inside]):.6f}" if cdr3 else "",
        f"{pseudo_perplexity(table[inside], cdr3):.6f}" if cdr3 else "",
        " ".join("" if np.isnan(p) else f"{p:.4f}" for p in truth).strip(),
        chain.sequence,
        _one_line(" ".join((*chain.notes, *limits(chain, settings[0])))),
        "",
    ]


def _failed(settings: tuple[str, str], receptor: Receptor, error: str) -> list[str]:
    first = [str(receptor.number), _one_line(receptor.name), *settings]
    return [*first, *[""] * (len(COLUMNS) - len(first) - 1), _one_line(error)]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _resume(
    target: Path, receptors: Iterator[Receptor], settings: tuple[str, str]
) -> tuple[int, int]:
    """Check what is written, cut a half row off, and step over the receptors that are done."""
    if not target.is_file():  # a device has no rows, and reading it might never end
        return 0, 0
    check_header(target, ("\t".join(COLUMNS) + "\n").encode())
    drop_half_row(target)
    if target.stat().st_size == 0:
        return 0, 0
    done = failed = 0
    with target.open(newline="", encoding="utf-8") as file:
        rows = csv.reader(file, delimiter="\t")
        next(rows)
        for row in rows:
            receptor = next(receptors, None)
            mine = receptor and [str(receptor.number), _one_line(receptor.name), *settings]
            chain = receptor.chain.sequence if receptor and receptor.chain else ""
            if row[:4] != mine or (not row[-1] and row[COLUMNS.index("chain")] != chain):
                raise ReceptorError(
                    f"{target} holds the results of another file, model or choice (its row: "
                    f"{', '.join(row[:4])}): choose another name or delete it."
                )
            done, failed = done + 1, failed + bool(row[-1])
    return done, failed
