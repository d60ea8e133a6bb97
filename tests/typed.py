"""Text of a page as Python would write its numbers, and what no page may print."""

import re

_POWER = re.compile("·10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
_LOWERED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_HYPHEN = r"(?<![\w.)-])-\d[\d.]*"  # not the one in TRBJ2-7 or ESM-2
_BADLY_SET = re.compile(rf"{_HYPHEN}|\d(?:[.]\d+)?e[+-]?\d+|\d[ ]?%")


def typed(text: str) -> str:
    """`−0.36` as `-0.36`, `8.9·10⁻¹⁶` as `8.9e-16`, no-break spaces as spaces."""
    plain = text.replace("−", "-").replace("\u00a0", " ")
    return _POWER.sub(lambda power: f"e{int(power[1].translate(_LOWERED)):+03d}", plain)


def badly_set(app) -> list[str]:
    """Hyphens for minus signs, `1e-5`, and per cent signs that can leave their number.

    Looked for in what is printed as text: code and formulas keep their own signs.
    """
    texts = [e.value for e in (*app.markdown, *app.caption, *app.subheader, *app.metric)]
    words = "\n".join(re.sub(r"`[^`]*`|\$+[^$]*\$+", "", str(text)) for text in texts)
    tables = "\n".join(table.value.to_csv() for table in app.table)
    return _BADLY_SET.findall(words + tables)
