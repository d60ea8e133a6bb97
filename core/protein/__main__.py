"""Command line of the protein model: guess, scan, scan-many, download, train-mini.

Results go to standard output (CSV) or a file, messages to standard error. Exit status: 0 done,
1 failed, 2 bad input.
"""

import argparse
import errno
import os
import sys
from dataclasses import fields

from core.protein import commands, many_command, upkeep
from core.protein.download import PUBLISHED
from core.protein.train_mini import MiniRecipe


def main(arguments: list[str] | None = None) -> int:
    """Parse the arguments, run the command, return the exit status."""
    options = build_parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except commands.BadInput as problem:
        print(f"Bad input: {problem}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # whoever read the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as problem:
        print(f"Failed: {_in_words(problem)}", file=sys.stderr)
        return 1
    except (RuntimeError, FloatingPointError) as problem:
        print(f"Failed: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped.", file=sys.stderr)
        return 1


def _in_words(problem: OSError) -> str:
    where = f"{problem.filename}: " if problem.filename else ""
    if problem.errno == errno.ENOSPC:
        return f"{where}the disk is full. Make room and start again; scan-many goes on from there."
    return f"{where}{problem.strerror or problem}."


def build_parser() -> argparse.ArgumentParser:
    """The parser with one sub-command per command."""
    parser = argparse.ArgumentParser(prog="python -m core.protein", description=__doc__)
    sub = parser.add_subparsers(required=True, metavar="command")
    for name, run, help_ in (
        ("scan", commands.scan_command, "hide every residue in turn"),
        ("guess", commands.guess_command, "hide one residue"),
    ):
        one = sub.add_parser(name, help=help_)
        _receptor_options(one)
        if name == "guess":
            one.add_argument("--position", type=int, help="position on the chain, from 1")
            one.add_argument("--cdr3-position", type=int, help="position in the CDR3, C = 1")
        one.set_defaults(run=run)
    many = sub.add_parser("scan-many", help="scan every receptor of a file, resumable")
    many.add_argument("source", help="FASTA, AIRR, VDJdb, 10x, or columns v, cdr3, j or sequence")
    many.add_argument("target", help="TSV to write; what it holds already is kept")
    many.add_argument("--species", default="human", help="of rows that name none (default human)")
    many.add_argument("--complete", action="store_true", help="add missing C104 or F118, noted")
    many.add_argument("--cdr3-only", action="store_true", help="hide the CDR3's residues alone")
    _model_option(many)
    many.set_defaults(run=many_command.scan_many_command)
    fetch = sub.add_parser(
        "download",
        help="fetch the published weights of an ESM-2",
        description="Ctrl-C cancels and leaves nothing; after a kill the next call goes on.",
    )
    fetch.add_argument("name", help="esm2-8m, esm2-35m, esm2-150m or esm2-650m")
    fetch.add_argument("--base-url", default=PUBLISHED, help=argparse.SUPPRESS)
    fetch.set_defaults(run=upkeep.download_command)
    _train_options(sub.add_parser("train-mini", help="train a TRB-mini on simulated receptors"))
    sub.add_parser("models", help="list the models").set_defaults(run=upkeep.models_command)
    return parser


def _receptor_options(parser: argparse.ArgumentParser) -> None:
    receptor = parser.add_argument_group("receptor (the published one when none is given)")
    receptor.add_argument("--v", help="V gene, in any usual spelling")
    receptor.add_argument("--cdr3", help="CDR3 from C104 to F118 or W118")
    receptor.add_argument("--j", help="J gene, in any usual spelling")
    receptor.add_argument("--chain", help="the whole chain's letters instead")
    receptor.add_argument("--species", default="human", help="human (default) or mouse")
    receptor.add_argument(
        "--complete", action="store_true", help="add a missing C104 or F118 to the CDR3, and say so"
    )
    receptor.add_argument("--no-leader", action="store_true", help="start at the mature chain")
    _model_option(parser)
    parser.add_argument(
        "--temperature", type=float, default=1.0, help="flatter above 1, sharper below (default 1)"
    )
    parser.add_argument("--csv", help="write the table here instead of standard output")


def _train_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("receptors", help="what olga-generate_sequences --humanTRB wrote")
    parser.add_argument("target", help="weight file to write")
    for setting in fields(MiniRecipe):
        option = "--" + setting.name.replace("_", "-")
        kind = type(setting.default)
        parser.add_argument(option, type=kind, default=setting.default, help="(%(default)s)")
    parser.set_defaults(run=upkeep.train_mini_command)


def _model_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", default="trb-mini", help="trb-mini (default), esm2-35m, ...")


if __name__ == "__main__":
    sys.exit(main())
