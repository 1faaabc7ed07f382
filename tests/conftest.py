"""The network is shut, and what groundplan keeps on a machine goes to a temporary folder."""

from __future__ import annotations

import asyncio
import gc
import ipaddress
import signal
import socket
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from groundplan.catalog.catalog import Catalog
from groundplan.project import load_catalog
from tests.asking.tables.described import SALES, Known, describe
from tests.extras import missing, missing_for

LONG = (
    *("tests/adversarial/", "tests/mcp/", "tests/questions/", "tests/reference/", "tests/service/"),
    *("tests/sources/tables/", "tests/test_", "tests/web/"),
)
"""Files of minutes. They come first, or one of two workers is left alone with the last one."""


def pytest_configure() -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in the background of a shell; tests send it to processes
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.nodeid.startswith(LONG))


def pytest_collection_finish() -> None:
    gc.freeze()  # ten thousand tests need not be looked through again and again


class NotInstalled(pytest.Module):
    """A file whose tests need an extra that is not there: it is not even imported."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        pytest.skip(str(missing_for(self.path)), allow_module_level=True)


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    return NotInstalled.from_parent(parent, path=module_path) if missing_for(module_path) else None


def pytest_runtest_setup(item: pytest.Item) -> None:
    for reason in (missing(extra) for mark in item.iter_markers("needs") for extra in mark.args):
        if reason:
            pytest.skip(reason)


@pytest.fixture(scope="session", autouse=True)
def _network_shut_except_loopback() -> Iterator[None]:
    """Watches the sockets of Python; an engine written in C is kept in by its own settings."""
    connect, connect_ex, getaddrinfo = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def guarded_connect(self: socket.socket, address: Any) -> None:
        _refuse_unless_loopback(self.family, address)
        connect(self, address)

    def guarded_connect_ex(self: socket.socket, address: Any) -> int:
        _refuse_unless_loopback(self.family, address)
        return connect_ex(self, address)

    def guarded_getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
        _refuse_unless_loopback(socket.AF_INET, (host,))
        return getaddrinfo(host, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded_connect)
        patch.setattr(socket.socket, "connect_ex", guarded_connect_ex)
        patch.setattr(socket, "getaddrinfo", guarded_getaddrinfo)
        yield


@pytest.fixture(scope="session", autouse=True)
def _folders_of_our_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """So that a test neither finds nor leaves anything in the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GROUNDPLAN_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("GROUNDPLAN_STATE", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="session")
def sales() -> Known:
    """The example's table and the values in it."""
    return asyncio.run(describe(SALES))


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return load_catalog()


def _refuse_unless_loopback(family: int, address: object) -> None:
    host = address[0] if isinstance(address, tuple) else address
    if family in (socket.AF_INET, socket.AF_INET6) and not _is_loopback(host):
        raise OSError(f"tests reach only this machine, not {host!r}; record what the test needs, or serve it")


def _is_loopback(host: object) -> bool:
    name = host.decode() if isinstance(host, bytes) else host
    if name in (None, "", "localhost"):
        return True
    try:
        return ipaddress.ip_address(str(name)).is_loopback
    except ValueError:
        return False
