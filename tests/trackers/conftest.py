"""One shop for a file of tests; each test finds it calm."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from groundplan.project import Project
from tests.trackers.shop import Shop, shop

QUICK = 0.3  # seconds that a request may take: less than a server hangs that is told to


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Shop, Project]]:
    with (
        shop(tmp_path_factory.mktemp("shop"), request_seconds=QUICK, requests=40) as servers,
        Project(servers.settings) as project,
    ):
        yield servers, project


@pytest.fixture
def servers(opened: tuple[Shop, Project], monkeypatch: pytest.MonkeyPatch) -> Shop:
    """Where the command line finds it: in the folder with its settings."""
    opened[0].calm()
    monkeypatch.chdir(opened[0].folder)
    return opened[0]


@pytest.fixture
def project(opened: tuple[Shop, Project], servers: Shop) -> Project:
    return opened[1]
