"""Our scans against a plain loop through fair-esm, on one machine, in turns.

    OMP_NUM_THREADS=2 python tests/benchmarks/scan_speed.py [--rounds 5] [--chains 1000]

Plain loop: one masked copy at a time through fair-esm's own forward, softmax over the 20 letters,
torch with two threads. Ours: as the command does it, two batches at once with one thread each.
Turns are taken round by round, so that a busy machine slows both; ratios are medians over rounds.
Prints one JSON object per measurement: `ratio`, what the project asks for (`bar`), and the ratio
that the least arithmetic would give at this processor's full speed (`ratio_at_peak`).
ESM-2 35M has its published shape and random weights; TRB-mini is the shipped model.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from esm.data import Alphabet
from esm.model.esm2 import ESM2

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from core.protein.cards import ModelCard, model_card
from core.protein.chain import Chain, default_chain
from core.protein.checkpoint import load_file
from core.protein.commands import one_torch_thread_each
from core.protein.genes import ReceptorError, alleles, j_gene
from core.protein.germline import assemble
from core.protein.model import LanguageModel
from core.protein.scan import scan
from core.protein.weights import load
from tests.benchmarks.scan_arithmetic import ceiling

THREADS = 2


def random_model(card: ModelCard) -> LanguageModel:
    """The shape of `card` with random weights large enough to matter."""
    torch.manual_seed(0)
    alphabet = Alphabet.from_architecture("ESM-1b")
    module = ESM2(*card.shape, alphabet, token_dropout=True)
    for name, parameter in module.named_parameters():
        if "norm" in name and name.endswith("weight"):
            parameter.data.fill_(1.0)
        else:
            torch.nn.init.normal_(parameter, std=0.05)
    module.eval().requires_grad_(False)
    return LanguageModel(card.name, "random weights", "nothing", module, alphabet, "random")


@torch.no_grad()
def plain_loop(model: LanguageModel, chain: Chain, positions) -> np.ndarray:
    """(n, 20): one masked copy at a time through fair-esm."""
    rows = []
    for position in positions:
        tokens = model.tokens(chain)[None]
        tokens[0, chain.token_index(position)] = model.alphabet.mask_idx
        logits = model.module(tokens)["logits"][0, chain.token_index(position)]
        rows.append(logits[model.residue_ids].double().softmax(-1).numpy())
    return np.stack(rows)


def timed(run):
    """Seconds of wall clock, and the result."""
    started = time.perf_counter()
    result = run()
    return time.perf_counter() - started, result


def one_chain(model: LanguageModel, rounds: int, per_round: int | None) -> dict:
    """Whole scans (or every so many positions of them) by both, in turns."""
    chain = default_chain()
    step = 1 if per_round is None else max(1, len(chain) // per_round)
    positions = list(range(1, len(chain) + 1))[::step]
    rows = np.array(positions) - 1
    scan(model, chain, positions=positions)
    plain_loop(model, chain, positions[:2])
    ratios, difference = [], 0.0
    for _ in range(rounds):
        plain, want = timed(lambda: plain_loop(model, chain, positions))
        with one_torch_thread_each() as threads:
            fast, got = timed(lambda: scan(model, chain, positions=positions, threads=threads))
        ratios.append(plain / fast)
        difference = max(difference, float(np.abs(got[rows] - want).max()))
    seconds = [t / len(positions) * len(chain) for t in (plain, fast)]
    return {
        "ratio": round(statistics.median(ratios), 2),
        "ratios": [round(r, 2) for r in ratios],
        "seconds_plain_per_chain": round(seconds[0], 2),
        "seconds_ours_per_chain": round(seconds[1], 2),
        "largest_difference": difference,
        **ceiling(model_card(model.name), len(chain), *seconds),
    }


def receptors(n: int) -> list[tuple[str, str, str]]:
    """`n` different receptors: functional V and J genes, a random junction between."""
    random = np.random.default_rng(0)
    vs = [a for a in alleles("V") if a.startswith("TRBV") and a.endswith("*01")]
    js = [j_gene(a) for a in alleles("J") if a.startswith("TRBJ")]
    made: dict[str, tuple[str, str, str]] = {}
    while len(made) < n:
        v, j = vs[random.integers(len(vs))], js[random.integers(len(js))]
        middle = "".join(random.choice(list("ACDEFGHIKLMNPQRSTVWY"), size=random.integers(2, 7)))
        cdr3 = "CAS" + middle + j.up_to_118[-6:]
        try:
            chain = assemble(v, cdr3, j.allele)
        except ReceptorError:
            continue
        made.setdefault(chain.sequence, (v, cdr3, j.allele))
    return list(made.values())


def many_chains(model: LanguageModel, chains: int, sampled: int) -> dict:
    """The many-receptor command on `chains` receptors; the plain loop on some of them."""
    rows = receptors(chains)
    residues = round(statistics.mean(len(assemble(*row)) for row in rows))
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.tsv", Path(folder) / "out.tsv"
        source.write_text("\n".join(["v\tcdr3\tj", *("\t".join(row) for row in rows)]) + "\n")
        command = (sys.executable, "-m", "core.protein", "scan-many", str(source), str(target))
        before = plain_seconds(model, rows[:sampled])
        ours = command_seconds(command)
        after = plain_seconds(model, rows[-sampled:])
        start_up = command_seconds(command)  # all rows are there: nothing left to scan
        written = target.read_text().count("\n") - 1
        target.unlink()
        cdr3_only = command_seconds((*command, "--cdr3-only"))
    plain = (before + after) / 2
    return {
        "ratio": round(plain * chains / ours, 2),
        "chains": chains,
        "written": written,
        "seconds_ours": round(ours, 1),
        "seconds_cdr3_only": round(cdr3_only, 1),
        "seconds_start_up": round(start_up, 1),
        "seconds_plain_per_chain": round(plain, 3),
        "plain_measured_on": 2 * sampled,
        **ceiling(model_card(model.name), residues, plain, (ours - start_up) / chains),
    }


def command_seconds(command: tuple[str, ...]) -> float:
    """Seconds of a command from start to end, imports and loading included."""
    root = Path(__file__).resolve().parents[2]
    return timed(lambda: subprocess.run(command, cwd=root, check=True, capture_output=True))[0]


def plain_seconds(model: LanguageModel, rows) -> float:
    """Seconds of the plain loop for one chain, mean over `rows`."""
    chains = [assemble(*row) for row in rows]
    positions = [range(1, len(chain) + 1) for chain in chains]
    seconds, _ = timed(
        lambda: [plain_loop(model, c, p) for c, p in zip(chains, positions, strict=True)]
    )
    return seconds / len(chains)


def peak_memory(card: ModelCard) -> float:
    """GB resident at most while a process of its own loads a weight file and scans."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / card.file
        cfg = argparse.Namespace(
            encoder_layers=card.layers,
            encoder_embed_dim=card.d_model,
            encoder_attention_heads=card.heads,
            token_dropout=True,
        )
        torch.save({"cfg": {"model": cfg}, "model": random_model(card).module.state_dict()}, path)
        command = (sys.executable, __file__, "--only-scan", str(path), "--card", card.name)
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(done.stdout) / 1e6  # Linux counts in kB


def main() -> None:
    """Run all three measurements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--chains", type=int, default=1000)
    parser.add_argument("--sampled", type=int, default=8, help="chains for the plain loop, twice")
    parser.add_argument("--positions", type=int, help="of the 35M scan, to save time")
    parser.add_argument("--only-scan", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--card", help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(THREADS)
    if options.only_scan:
        model = load_file(model_card(options.card), options.only_scan)
        with one_torch_thread_each() as threads:
            scan(model, default_chain(), threads=threads)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        return
    big, mini = model_card("esm2-35m"), load("trb-mini")
    result = one_chain(random_model(big), options.rounds, options.positions)
    print(json.dumps({"what": "scan, ESM-2 35M shape", "bar": 1.8, **result}), flush=True)
    print(
        json.dumps({"what": "scan, TRB-mini", **one_chain(mini, options.rounds, None)}), flush=True
    )
    memory = round(peak_memory(big), 2)
    print(
        json.dumps({"what": "peak memory of a 35M scan, GB", "bar": 1.2, "gb": memory}), flush=True
    )
    result = many_chains(mini, options.chains, options.sampled)
    print(json.dumps({"what": "scan-many, TRB-mini", "bar": 5, **result}), flush=True)


if __name__ == "__main__":
    main()
