"""IMGT's numbering by its rules: gaps in the middle of CDRs, insertions between 111 and 112."""

import pytest

from core.protein.genes import ReceptorError, alleles, v_gene
from core.protein.numbering import imgt_cdr3, imgt_v


@pytest.mark.parametrize(
    ("length", "middle"),
    [
        (7, "105 106 107 116 117"),
        (13, "105 106 107 108 109 110 113 114 115 116 117"),
        (14, "105 106 107 108 109 110 112 113 114 115 116 117"),
        (15, "105 106 107 108 109 110 111 112 113 114 115 116 117"),
        (16, "105 106 107 108 109 110 111 112.1 112 113 114 115 116 117"),
        (17, "105 106 107 108 109 110 111 111.1 112.1 112 113 114 115 116 117"),
        (18, "105 106 107 108 109 110 111 111.1 112.2 112.1 112 113 114 115 116 117"),
    ],
)
def test_cdr3_labels(length, middle):
    assert imgt_cdr3(length) == ("104", *middle.split(), "118")
    assert len(imgt_cdr3(length)) == length


@pytest.mark.parametrize("length", range(2, 41))
def test_cdr3_labels_are_unique(length):
    labels = imgt_cdr3(length)
    assert len(set(labels)) == len(labels) == length


def test_conserved_residues_of_every_functional_human_v_gene():
    """C23, W41 and C104 are IMGT's own landmarks: a wrong gap would move them."""
    checked = 0
    for allele in alleles("V"):
        try:
            gene = v_gene(allele)
        except ReceptorError:
            continue
        labels = imgt_v(gene.lengths)
        assert len(labels) == len(gene.framework)
        at = dict(zip(labels, gene.framework, strict=True))
        assert at["104"] == "C"
        if len(gene.parts[0]) >= 25:
            assert at["23"] == "C", allele
            assert at["41"] == "W" or allele.startswith("TRGV1*"), allele
            checked += 1
    assert checked > 250


def test_arginine_75_and_phenylalanine_76_line_up_in_a_long_and_a_short_third_framework():
    """TRBV7-2 and TRAV1-2 both read ..RF.. at 75 and 76; their FR3s have 38 and 34 residues."""
    for allele in ("TRBV7-2*01", "TRAV1-2*01"):
        gene = v_gene(allele)
        at = dict(zip(imgt_v(gene.lengths), gene.framework, strict=True))
        assert at["75"] + at["76"] == "RF"
