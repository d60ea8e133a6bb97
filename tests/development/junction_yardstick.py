"""What recombination alone says about each CDR3 residue, given all the others.

Makes assets/recombination_yardstick.csv with OLGA (Sethna et al., Bioinformatics 35, 2019), whose
generation probability of an amino-acid CDR3 sums over every V(D)J recombination that makes it:

    P(letter a at i | the rest) = Pgen(CDR3 with a at i) / sum over the 20 letters

OLGA is GPL and needs numba: it is installed only for this script, in an environment of its own,
and never imported by the app or by the tests:

    python -m venv /tmp/olga && /tmp/olga/bin/pip install olga==1.3.0
    cd tests/development
    /tmp/olga/bin/python junction_yardstick.py > ../../assets/recombination_yardstick.csv
"""

import csv
import sys
from pathlib import Path

import olga
import olga.generation_probability as generation_probability
import olga.load_model as load_model

LETTERS = "ACDEFGHIKLMNPQRSTVWY"
CDR3 = "CASSIRSSYEQYF"
GIVEN = (("TRBV19*01 and TRBJ2-7*01", "TRBV19*01", "TRBJ2-7*01"), ("nothing", None, None))


def human_beta_model():
    """OLGA's human T-cell receptor beta model."""
    folder = Path(olga.__file__).parent / "default_models" / "human_T_beta"
    genes = load_model.GenomicDataVDJ()
    genes.load_igor_genomic_data(
        str(folder / "model_params.txt"),
        str(folder / "V_gene_CDR3_anchors.csv"),
        str(folder / "J_gene_CDR3_anchors.csv"),
    )
    recombination = load_model.GenerativeModelVDJ()
    recombination.load_and_process_igor_model(str(folder / "model_marginals.txt"))
    return generation_probability.GenerationProbabilityVDJ(recombination, genes)


def row(model, position, v, j):
    """P(letter | the rest) of the 20 letters at a 1-based CDR3 position, and the CDR3's Pgen."""
    pgens = [
        model.compute_aa_CDR3_pgen(CDR3[: position - 1] + letter + CDR3[position:], v, j)
        for letter in LETTERS
    ]
    total = sum(pgens)
    return [pgen / total for pgen in pgens], pgens[LETTERS.index(CDR3[position - 1])]


def main():
    """Write the table to standard output: one row per CDR3 position and per thing given."""
    model = human_beta_model()
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(("given", "cdr3_position", "residue", "pgen", "p_true", *LETTERS))
    for given, v, j in GIVEN:
        for position, residue in enumerate(CDR3, 1):
            probabilities, pgen = row(model, position, v, j)
            true = probabilities[LETTERS.index(residue)]
            numbers = [f"{p:.6g}" for p in (pgen, true, *probabilities)]
            writer.writerow((given, position, residue, *numbers))


if __name__ == "__main__":
    main()
