"""Labels that have an order in time, such as `Summer 2019`, `Q3 2019` or `FY2019`."""

from __future__ import annotations

import re
from collections.abc import Sequence

FAMILIES = (  # winter is left out: it may begin a year or end it
    {"spring": 1, "summer": 2, "fall": 3, "autumn": 3, "весна": 1, "лето": 2, "осень": 3},
    {f"q{n}": n for n in range(1, 5)},
    {f"h{n}": n for n in range(1, 3)},
    {"fy": 0},
    {"": 0},
)
LABEL = re.compile(r"(?P<before>[^\W\d_]+\d?)?[\s/_-]*(?P<year>(?:19|20)\d\d)[\s/_-]*(?P<after>[^\W\d_]+\d?)?")


def latest(labels: Sequence[str]) -> str | None:
    """The last of them in time; None unless all have one form that tells."""
    found = [LABEL.fullmatch(label.strip().lower()) for label in labels]
    parts = [
        (one["before"] or one["after"] or "") if one and not (one["before"] and one["after"]) else None for one in found
    ]
    for family in FAMILIES:
        if parts and all(part in family for part in parts):
            keys = [(int(one["year"]), family[part or ""]) for one, part in zip(found, parts, strict=True) if one]
            return labels[keys.index(max(keys))] if len({*keys}) == len(keys) else None
    return None
