"""The chain: whitelisted letters, the only +1, regions, and three numberings at once."""

import pytest

from core.alphabet import SequenceError
from core.protein.chain import MAX_LENGTH, Chain, default_chain
from core.protein.genes import j_gene, v_gene
from core.protein.germline import encodable_ends
from core.protein.parts import Region


def test_the_published_chain_has_its_length_and_regions(golden, published):
    assert len(published) == golden["esm"]["chain_length"]
    assert published.regions == (
        Region("leader", 1, 19),
        Region("V", 20, 109),
        Region("CDR3", 110, 122),
        Region("J", 123, 131),
    )
    assert published.cdr3_sequence == golden["toy"]["sequence"]
    assert published.sequence[12] == "L"
    assert "F in IMGT" in published.notes[0]


def test_the_published_chain_says_what_its_germlines_can_encode(published):
    ends = encodable_ends(v_gene("TRBV19*01"), published.cdr3_sequence, j_gene("TRBJ2-7*01"))
    assert (published.from_v, published.from_j) == ends == (len("CASSI"), len("SYEQYF"))
    assert published.v_lengths == v_gene("TRBV19*01").lengths
    letters = "".join(
        published.sequence[p - 1] for p in range(1, 132) if published.origin(p) == "junction"
    )
    assert letters == "RS"


@pytest.mark.parametrize(
    ("position", "cdr3", "imgt", "letter"),
    [
        (1, None, "", "M"),
        (19, None, "", "V"),
        (20, None, "1", "D"),
        (42, None, "23", "C"),
        (46, None, "27", "L"),
        (50, None, "38", "A"),
        (53, None, "41", "W"),
        (110, 1, "104", "C"),
        (115, 6, "109", "R"),
        (116, 7, "110", "S"),
        (117, 8, "113", "S"),
        (122, 13, "118", "F"),
        (123, None, "119", "G"),
        (131, None, "127", "T"),
    ],
)
def test_chain_cdr3_and_imgt_numbers_together(published, position, cdr3, imgt, letter):
    numbers = published.numbers(position)
    assert (numbers.chain, numbers.cdr3, numbers.imgt) == (position, cdr3, imgt)
    assert published.sequence[position - 1] == letter


def test_parts_of_v_are_where_imgt_puts_them(published):
    assert [(r.name, r.start, r.end) for r in published.v_regions] == [
        ("FR1", 20, 45),
        ("CDR1", 46, 50),
        ("FR2", 51, 67),
        ("CDR2", 68, 73),
        ("FR3", 74, 110),
    ]


def test_token_index_steps_over_the_start_token(published, mini):
    tokens = mini.tokens(published)
    assert len(tokens) == len(published) + 2
    for position in (1, 13, 110, 131):
        token = tokens[published.token_index(position)]
        assert mini.alphabet.get_tok(int(token)) == published.sequence[position - 1]
    assert [mini.alphabet.get_tok(int(t)) for t in tokens[published.residue_tokens]] == list(
        published.sequence
    )


@pytest.mark.parametrize("position", [0, -1, 132])
def test_positions_outside_are_refused(published, position):
    for ask in (published.token_index, published.numbers, published.region_at, published.origin):
        with pytest.raises(ValueError, match="1 to 131"):
            ask(position)


@pytest.mark.parametrize(
    ("text", "letter", "position"),
    [
        ("A<pad>C", "<", 2),
        ("A<mask>C", "<", 2),
        ("AC-D", "-", 3),
        ("AC.D", ".", 3),
        ("AC*", "*", 3),
        ("AJC", "J", 2),
        ("A1C", "1", 2),
        ("Acd", "c", 2),
        ("AС", "С", 2),  # Cyrillic
        ("AC DEF", " ", 3),
        ("AC\nDEF", "\n", 3),
        ("\ufeffAC", "\ufeff", 1),
        ("A_C", "_", 2),
        ("A?C", "?", 2),
    ],
)
def test_what_a_tokeniser_would_swallow_or_choke_on_is_named(text, letter, position):
    with pytest.raises(SequenceError) as caught:
        Chain(text)
    assert (caught.value.letter, caught.value.position) == (letter, position)
    assert f"position {position}" in caught.value.sentence


def test_too_long_or_empty_is_refused_never_cut():
    with pytest.raises(SequenceError, match="1,023 residues"):
        Chain("A" * (MAX_LENGTH + 1))
    with pytest.raises(SequenceError, match="no sequence"):
        Chain("")
    assert len(Chain("A" * MAX_LENGTH)) == MAX_LENGTH


def test_parts_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="J cannot end at 4"):
        Chain("ACASSFGG", cdr3=(2, 6), j_end=4)
    with pytest.raises(ValueError, match="J cannot end at 9"):
        Chain("ACASSFGG", cdr3=(2, 6), j_end=9)
    with pytest.raises(ValueError, match="does not fit"):
        Chain("ACDEF", cdr3=(2, 6))
    with pytest.raises(ValueError, match="leader of 5"):
        Chain("ACDEF", leader_end=5)
    with pytest.raises(ValueError, match="do not end at position 3"):
        Chain("ACDEF", cdr3=(3, 5), v_lengths=(1, 1, 1, 1, 1))


def test_a_mutation_is_one_letter_and_says_so(published):
    mutant = published.mutated(115, "W")
    assert [
        i
        for i, (a, b) in enumerate(zip(mutant.sequence, published.sequence, strict=True), 1)
        if a != b
    ] == [115]
    assert mutant.name.endswith("R115W")
    assert mutant.regions == published.regions
    with pytest.raises(SequenceError):
        published.mutated(115, "J")


def test_fasta_holds_the_chain():
    header, *lines = default_chain().fasta().splitlines()
    assert header.startswith(">")
    assert "".join(lines) == default_chain().sequence
    assert max(map(len, lines)) == 60
