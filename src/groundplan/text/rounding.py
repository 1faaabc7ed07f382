"""How numbers are rounded wherever people read them: as in browsers and spreadsheets, a half goes up."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal

DIGITS = 15  # that a float is sure of: those behind depend on the order in which numbers were added
_HALF_UP = Context(prec=400, rounding=ROUND_HALF_UP)


def rounded(value: float, places: int, sign: str = "") -> str:
    """`14,070` for 14069.5, with commas between thousands; `sign` is `+` to show it always."""
    known = Decimal(value) if isinstance(value, int) else Decimal(f"{value:.{DIGITS}g}")
    return f"{_HALF_UP.quantize(known, Decimal(1).scaleb(-places)):{sign},f}"


def sure(value: float) -> float:
    """Without the digits that depend on the order of adding: 8748.1 for 8748.099999999999."""
    return value if isinstance(value, int) else float(f"{value:.{DIGITS}g}")
