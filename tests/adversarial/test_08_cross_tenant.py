"""What one user may not see does not reach them by a table, a graph, a vector, a cache or an error text."""

from __future__ import annotations

import pytest


@pytest.mark.skip(
    reason="there are no tenants yet: a project has one user, and the service that brings more is not built"
)
def test_no_row_of_another_tenant_in_a_thousand_pairs() -> None:
    raise NotImplementedError
