"""Values of the data that a question may name: what filters are made of."""

from __future__ import annotations

from collections.abc import Mapping

Values = Mapping[str, tuple[str, ...]]
"""Distinct values by column, as the engine gave them; they never leave the reading stage except in filters."""
