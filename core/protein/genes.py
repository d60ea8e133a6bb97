"""V and J genes: any usual spelling to IMGT's name, and IMGT's germline amino acids.

In: text such as "TCRBV19-01". Out: an allele with its sequence and a sentence for everything
that was assumed. Names and sequences come from tidytcells (MIT; data IMGT, CC BY 4.0). Knows
nothing of CDR3s or chains.
"""

import difflib
import re
from dataclasses import dataclass
from functools import lru_cache

import tidytcells

from core.protein.numbering import V_PARTS

SPECIES = {"human": "homosapiens", "mouse": "musmusculus"}
_EXAMPLES = {"V": "TRBV19", "J": "TRBJ2-7"}
# Between the genes of a list; the / of TRAV14/DV4 belongs to its name.
_SEVERAL = re.compile(r"[,;|]|\bor\b|/(?=TR|TCR|\d)", re.I)


class ReceptorError(ValueError):
    """A receptor that cannot be put together; the message says what is wrong and what to do."""


@dataclass(frozen=True)
class VGene:
    """A germline V allele: its parts FR1 to FR3 (FR3 ends with C104) and what follows C104."""

    allele: str
    parts: tuple[str, ...]
    after_c104: str

    @property
    def framework(self) -> str:
        """FR1 to FR3, C104 included."""
        return "".join(self.parts)

    @property
    def lengths(self) -> tuple[int, ...]:
        """Lengths of FR1, CDR1, FR2, CDR2, FR3."""
        return tuple(len(part) for part in self.parts)


@dataclass(frozen=True)
class JGene:
    """A germline J allele: up to and including the conserved F118 or W118, and the rest."""

    allele: str
    up_to_118: str
    after_118: str

    @property
    def anchor(self) -> str:
        """The conserved letter at IMGT 118: F in TRBJ, F, W or C elsewhere."""
        return self.up_to_118[-1]


def species_name(text: str) -> str:
    """tidytcells's name of a species given as human, mouse, HomoSapiens, ...

    Raises ReceptorError for another one.
    """
    key = re.sub(r"[\s_]", "", text).lower() or "human"
    name = SPECIES.get(key, key)
    if name not in SPECIES.values():
        raise ReceptorError(f"Germline genes of “{text}” are not known here, only human and mouse.")
    return name


def standard_allele(text: str, kind: str, species: str = "homosapiens") -> tuple[str, list[str]]:
    """IMGT's allele for a V or J gene written in any usual way, and what was assumed.

    The first of a list or a family is taken, a missing allele is *01, and all this is said.
    Raises ReceptorError naming near ones when nothing fits.
    """
    wanted, notes = _first_gene(text)
    if not wanted:
        raise ReceptorError(f"The {kind} gene is missing: give one such as {_EXAMPLES[kind]}.")
    symbol = tidytcells.tr.standardize(wanted, species=species, log_failures=False)
    if symbol is None or symbol[3] != kind:
        raise _unknown_gene(wanted, kind, species, symbol)
    gene, _, allele = symbol.partition("*")
    if family := _family(wanted, gene, kind, species):
        notes.append(f"{wanted} names a family of {len(family)} genes; {family[0]} was taken.")
        gene, allele = family[0], ""
    elif re.sub(r"\s", "", wanted).upper().partition("*")[0] != gene:
        notes.append(f"{wanted} was read as {gene}.")
    if not allele:
        symbol = _first_known_allele(gene, kind, species)
        notes.append(f"{gene} was given without an allele; {symbol} is assumed.")
    return symbol, notes


def _first_gene(text: str) -> tuple[str, list[str]]:
    """The first gene that a text names, and a note when it names more."""
    # MiXCR writes a score after each gene, and *00 where it did not tell the allele.
    text = re.sub(r"\*00|\([\d.]+\)", "", text).strip()
    first, *others = list(filter(str.strip, _SEVERAL.split(text))) or [""]
    notes = [f"{text} names {len(others) + 1} genes; the first was taken."] if others else []
    species = r"^(homsap|musmus|homo sapiens|mus musculus)\s+"
    return re.sub(species, "", first.strip(), flags=re.I), notes


def can_join(v: str, j: str) -> bool:
    """Whether a V and a J allele lie in one locus; alpha's holds delta's, and both share genes."""
    return v[:3] == j[:3] or {v[:3], j[:3]} == {"TRA", "TRD"}


@lru_cache(maxsize=1024)
def _first_known_allele(gene: str, kind: str, species: str) -> str:
    known = [a for a in alleles(kind, species) if a.partition("*")[0] == gene]
    if not known:
        raise ReceptorError(
            f"{gene} has no functional allele with a known protein sequence (a pseudogene, "
            "perhaps): choose another gene."
        )
    return known[0]


def _family(wanted: str, gene: str, kind: str, species: str) -> list[str]:
    """The genes that "TRBV6" names, when it names several; of them tidytcells takes any."""
    if len(re.findall(r"\d+", wanted.partition("*")[0])) > 1 or "-" not in gene:
        return []
    start = gene.partition("-")[0] + "-"
    of_it = dict.fromkeys(
        a.partition("*")[0] for a in alleles(kind, species) if a.startswith(start)
    )
    return list(of_it) if len(of_it) > 1 else []


def _unknown_gene(text: str, kind: str, species: str, symbol: str | None) -> ReceptorError:
    where = next(word for word, name in SPECIES.items() if name == species)
    if symbol is not None:
        return ReceptorError(f"“{text}” is {symbol}, and a {kind} gene is wanted here.")
    if re.match("IG[HKL]", text, re.I):
        return ReceptorError(
            f"“{text}” is an antibody's gene; only T-cell receptors are known here."
        )
    names = sorted({a.partition("*")[0] for a in alleles(kind, species)})
    near = difflib.get_close_matches(text.upper().partition("*")[0], names, 3, 0.5)
    advice = f"near ones are {', '.join(near)}" if near else f"write it like {_EXAMPLES[kind]}"
    if "*" in text:
        advice = f"the gene or this allele of it does not exist; {advice}"
    return ReceptorError(f"“{text}” is not a {where} T-cell receptor {kind} gene: {advice}.")


@lru_cache(maxsize=8)
def alleles(kind: str, species: str = "homosapiens") -> tuple[str, ...]:
    """Functional T-cell receptor alleles of one kind ("V" or "J") in order of name."""
    everything = tidytcells.tr.query(
        species=species, precision="allele", functionality="F", contains_pattern=f"^TR[ABGD]{kind}"
    )
    return tuple(sorted(everything, key=_natural))


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(p), "") if p.isdigit() else (-1, p) for p in re.split(r"(\d+)", name)]


@lru_cache(maxsize=1024)
def v_gene(allele: str, species: str = "homosapiens") -> VGene:
    """Germline amino acids of a V allele. Raises ReceptorError when they are not known."""
    sequences = _sequences(allele, species)
    parts = tuple(sequences.get(f"{name}-IMGT", "") for name in V_PARTS)
    if allele.startswith("TRDV3*") and len(parts[-1]) > 38:
        # IMGT's aligned sequence has this S at 65, the end of CDR2; its table of parts, in FR3.
        parts = (*parts[:3], parts[3] + parts[4][0], parts[4][1:])
    region = sequences.get("V-REGION", "")
    framework = "".join(parts)
    if not region.startswith(framework) or not parts[-1].endswith("C"):
        raise ReceptorError(
            f"IMGT's protein sequence of {allele} is incomplete (no C at position 104): choose "
            "another allele or paste the whole chain."
        )
    return VGene(allele, parts, region[len(framework) :])


@lru_cache(maxsize=256)
def j_gene(allele: str, species: str = "homosapiens") -> JGene:
    """Germline amino acids of a J allele. Raises ReceptorError when they are not known."""
    sequences = _sequences(allele, species)
    region = sequences.get("J-REGION", "")
    anchor = next((v for k, v in sequences.items() if k.startswith("J-") and len(v) == 1), "")
    motif = re.search(rf"{anchor or '[FWC]'}(?=[GA].G)", region)
    if motif is None:
        raise ReceptorError(f"No conserved F or W was found in {allele}: paste the whole chain.")
    return JGene(allele, region[: motif.end()], region[motif.end() :])


def _sequences(allele: str, species: str) -> dict[str, str]:
    try:
        return dict(tidytcells.tr.get_aa_sequence(allele, species=species))
    except (ValueError, KeyError):
        raise ReceptorError(
            f"No protein sequence of {allele} is known (a pseudogene, perhaps): choose another."
        ) from None
