"""The tests themselves cannot reach beyond this machine."""

from __future__ import annotations

import asyncio
import socket

import pytest

from groundplan.settings import cache_folder, state_folder


@pytest.mark.parametrize("host", ["192.0.2.1", "example.com", "2001:db8::1"])
def test_another_machine_is_refused_before_a_packet_leaves(host: str) -> None:
    with pytest.raises(OSError, match="tests reach only this machine"):
        socket.create_connection((host, 80), timeout=0.1)


def test_a_bare_socket_is_refused_too() -> None:
    with socket.socket() as bare, pytest.raises(OSError, match="tests reach only this machine"):
        bare.connect(("192.0.2.1", 80))


def test_an_event_loop_is_refused_too() -> None:
    with pytest.raises(OSError, match="tests reach only this machine"):
        asyncio.run(asyncio.open_connection("192.0.2.1", 80))


def test_loopback_answers() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as client,
    ):
        assert client.getpeername() == server.getsockname()


def test_cache_and_state_are_temporary(tmp_path_factory: pytest.TempPathFactory) -> None:
    assert cache_folder().is_relative_to(tmp_path_factory.getbasetemp())
    assert state_folder().is_relative_to(tmp_path_factory.getbasetemp())
