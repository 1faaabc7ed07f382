"""Ask questions about your data in plain words; every number in the answer traces back to a fact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from groundplan.column_settings import ColumnSettings
    from groundplan.contracts.roles import Roles
    from groundplan.project import Project
    from groundplan.settings import Endpoint

__version__ = "0.1.0"
__all__ = ["open"]


def open(
    where: Any,
    embeddings: str | None = None,
    models: Sequence[Endpoint] = (),
    columns: Mapping[str, ColumnSettings] | None = None,
    roles: Roles | None = None,
) -> Project:
    """Open data read-only: a file, a folder, a DuckDB file, a PostgreSQL URL, an Ibis backend, or frames.

    >>> project = groundplan.open("sales.csv")  # doctest: +SKIP
    >>> project.run(Path("plan.json").read_text())  # doctest: +SKIP
    """
    from groundplan.project import Project

    return Project(where, embeddings, models, columns, roles)
