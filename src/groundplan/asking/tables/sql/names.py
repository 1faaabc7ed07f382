"""Names as SQL compares them: without regard to upper and lower case, in any script."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from groundplan.asking.tables.sql.untranslatable import Untranslatable
from groundplan.contracts.schema import SourceSchema, Table

SPACES = " \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"


def normal(name: str) -> str:
    """`"Город"`, `город` and `ГОРОД` are one name."""
    return unicodedata.normalize("NFC", name).casefold()


def find_name(name: str, known: Iterable[str]) -> str | None:
    """The known name that is written so, or that differs only in case."""
    alike = [one for one in known if normal(one) == normal(name)]
    return name if name in alike else alike[0] if len(alike) == 1 else None


def find_table(node: Any, schema: SourceSchema) -> Table:
    """The table that a FROM names; `schema.table` may be one dotted name; raises Untranslatable."""
    written = ".".join(part for part in (node.catalog, node.db, node.name) if part)
    names = [table.name for table in schema.tables]
    found = find_name(written, names) or _plain(written, names)
    if found is None and node.db in ("main", "public") and not node.catalog:
        found = find_name(node.name, names)
    table = schema.find(found) if found else None
    if table is None:
        near = get_close_matches(written, names, n=1)
        raise Untranslatable(f"the table {written}", f"there is {near[0] if near else ', '.join(names[:20])}")
    return table


def _plain(written: str, names: Iterable[str]) -> str | None:
    """A dotted or spaced name that was written with underscores."""
    alike = [name for name in names if re.sub(r"\W", "_", normal(name)) == re.sub(r"\W", "_", normal(written))]
    return alike[0] if len(alike) == 1 else None


def free_name(wanted: str, taken: Iterable[str]) -> str:
    """The name, with a number where it is taken; case counts for nothing."""
    used = {normal(name) for name in taken}
    wanted = wanted.strip()[:60] or "value"  # a step names a column in 64 characters
    name, number = wanted, 2
    while normal(name) in used:
        name, number = f"{wanted} {number}", number + 1
    return name


def trim(text: str) -> str:
    """Without the spaces around it, as TRIM of DuckDB: of every width, but no tabs or line ends."""
    return text.strip(SPACES)
