"""What one user may not see does not reach them by a table, a graph, a vector, a cache or an error text."""

from __future__ import annotations

import pytest


@pytest.mark.skip(
    reason="tenants of one service ask the same data, and sources of a tenant's own are not built; tests/service "
    "keeps their runs, conversations, plans and effects apart"
)
def test_no_row_of_another_tenant_in_a_thousand_pairs() -> None:
    raise NotImplementedError
