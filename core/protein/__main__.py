"""Command line of the protein model: guess, scan, scan-many, download, train-mini.

Results go to standard output (CSV) or a file, messages to standard error. Exit status: 0 done,
1 failed, 2 bad input.
"""

import argparse
import sys

from core.protein import commands


def main(arguments: list[str] | None = None) -> int:
    """Parse the arguments, run the command, return the exit status."""
    options = build_parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except commands.BadInput as problem:
        print(f"Bad input: {problem}", file=sys.stderr)
        return 2
    except (RuntimeError, OSError, FloatingPointError) as problem:
        print(f"Failed: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 1


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
    _model_options(parser)
    parser.add_argument("--csv", help="write the table here instead of standard output")


def _model_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", default="trb-mini", help="trb-mini (default), esm2-35m, ...")
    parser.add_argument(
        "--temperature", type=float, default=1.0, help="flatter above 1, sharper below (default 1)"
    )


if __name__ == "__main__":
    sys.exit(main())
