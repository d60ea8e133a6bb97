"""Typed text becomes a sequence with a note for every change, or a sentence."""

import pytest

from core.alphabet import (
    AMINO_ACIDS,
    BOS,
    DIGITS,
    EOS,
    NUCLEOTIDES,
    PAD,
    RESIDUES,
    SequenceError,
    clean_sequence,
)


def test_a_clean_sequence_passes_without_notes():
    cleaned = clean_sequence("CASSIRSSYEQYF")
    assert (cleaned.sequence, cleaned.notes) == ("CASSIRSSYEQYF", ())


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("cassirssyeqyf", "upper case"),
        (">sp|x|receptor beta\nCASSIR\nSSYEQYF", "FASTA header"),
        (">receptor beta CASSIRSSYEQYF", "last word of the FASTA line"),
        ("CASS IRSS YEQYF", "White space"),
        ("CASSIRSSYEQYF*", "stop codon"),
        ("\ufeffCASSIRSSYEQYf", "upper case"),
        ("CASSIRSSYEQYF\r\n", None),
    ],
)
def test_what_is_changed_is_said(text, word):
    cleaned = clean_sequence(text)
    assert cleaned.sequence == "CASSIRSSYEQYF"
    if word is None:
        assert cleaned.notes == ()
    else:
        assert any(word in note for note in cleaned.notes)


@pytest.mark.parametrize(
    ("text", "letter", "position"),
    [
        ("CAS5", "5", 4),
        ("CA*SS", "*", 3),
        ("CASSX", "X", 5),
        ("cabss", "B", 3),
        ("JASS", "J", 1),
        ("CAS-S", "-", 4),
        ("<script>alert(1)</script>", "<", 1),
        ("CA<pad>SS", "<", 3),
        ("CАSS", "А", 2),  # a Cyrillic letter that looks like A
        ("ﬁASS", "ﬁ", 1),  # a ligature whose upper case is two letters
        ("ßASS", "ß", 1),
        (">header\nCA SS1", "1", 5),
    ],
)
def test_a_foreign_letter_is_named_with_its_place(text, letter, position):
    with pytest.raises(SequenceError) as caught:
        clean_sequence(text)
    assert (caught.value.letter, caught.value.position) == (letter, position)
    assert letter in caught.value.sentence
    assert f"position {position}" in caught.value.sentence


@pytest.mark.parametrize("text", ["", "   \n", ">only a header\n", ">a\nACD\n>b\nEFG"])
def test_no_single_sequence(text):
    with pytest.raises(SequenceError) as caught:
        clean_sequence(text)
    assert caught.value.letter is None


@pytest.mark.parametrize(("length", "ok"), [(1, False), (2, True), (60, True), (61, False)])
def test_bounds_are_enforced(length, ok):
    if ok:
        assert clean_sequence("A" * length, min_length=2, max_length=60).sequence == "A" * length
    else:
        with pytest.raises(SequenceError, match=rf"^{length} letters? is outside the 2 to 60"):
            clean_sequence("A" * length, min_length=2, max_length=60)


def test_huge_pastes_are_refused_by_length():
    for size in (10_000, 5_000_000):
        with pytest.raises(SequenceError, match=f"{size:,} letters"):
            clean_sequence("A" * size, max_length=60)


def test_ambiguous_letters_pass_only_with_a_note():
    cleaned = clean_sequence("CAXSS", allow_ambiguous=True)
    assert cleaned.sequence == "CAXSS"
    assert any("X" in note for note in cleaned.notes)


def test_ids_of_the_reverse_task(golden):
    task = golden["reverse_task"]
    assert task["alphabet"] == AMINO_ACIDS
    assert task["specials"] == {"PAD": PAD, "BOS": BOS, "EOS": EOS}
    assert len(RESIDUES) == task["vocabulary"]
    assert RESIDUES.encode("ACDY") == (task["first_letter_id"], 4, 5, 22)


@pytest.mark.parametrize(
    ("vocabulary", "text"),
    [(RESIDUES, "CASSIRSSYEQYF"), (NUCLEOTIDES, "GATTACA"), (DIGITS, "3141")],
)
def test_decoding_undoes_encoding_and_stops_at_the_end_sign(vocabulary, text):
    ids = vocabulary.encode(text)
    assert vocabulary.decode((BOS, *ids, EOS, PAD, *ids)) == text


def test_a_foreign_letter_has_no_id():
    with pytest.raises(ValueError, match="'Z' at position 2"):
        RESIDUES.encode("CZ")
