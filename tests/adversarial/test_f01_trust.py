"""A folder's groundplan.toml starts no command, reaches no address and reads no secret before somebody trusts it."""

from __future__ import annotations

import stat
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner

from groundplan.errors import UsageError
from groundplan.interfaces.cli.main import app
from groundplan.settings import FILE, load_models, load_settings, state_folder, trust_folder, wanted_by

CANARY = "hunter22-canary"


class _Listener(HTTPServer):
    """A server that records everything it is sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.heard: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        assert isinstance(self.server, _Listener)
        self.server.heard.append(str(self.headers))
        self.send_error(500)

    do_POST = do_GET  # noqa: N815 - the name the library looks for

    def log_message(self, format: str, *args: object) -> None: ...


@pytest.fixture
def listener() -> Iterator[_Listener]:
    server = _Listener()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder from a stranger, with the reader's own file and key beside it."""
    found = tmp_path / "cloned"
    found.mkdir()
    (tmp_path / "id_rsa").write_text(CANARY)
    (found / "sales.csv").write_text("region,revenue\nWest,3\nEast,4\n")
    monkeypatch.chdir(found)
    monkeypatch.delenv("GROUNDPLAN_MODEL", raising=False)
    return found


def run(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, list(words))
    if isinstance(done.exception, UsageError):
        return done.exception.exit_code, str(done.exception)
    return done.exit_code, done.output


def test_a_strangers_model_gets_neither_question_nor_secret(folder: Path, listener: _Listener) -> None:
    (folder / FILE).write_text(
        f'model = "m"\n[models.m]\nurl = "{listener.url}/v1"\nmodel = "x"\napi_key_file = "../id_rsa"\n'
    )
    code, said = run("ask", "sales.csv", "how much did we sell to whom and why?")
    assert listener.heard == []
    assert code == 2
    assert "groundplan trust" in said
    assert listener.url in said
    assert "../id_rsa" in said
    assert CANARY not in said


@pytest.mark.parametrize(
    "words",
    [
        ["doctor"],
        ["sources", "list"],
        ["sources", "accept", "x.y"],
        ["ask", "hello"],
        ["ask", "sales.csv", "total revenue"],
        ["plan", "sales.csv", "total revenue"],
        ["chat"],
        ["compare", "."],
    ],
)
def test_no_command_line_starts_a_strangers_command(words: list[str], folder: Path) -> None:
    (folder / FILE).write_text(f'[sources.x]\nmcp = "touch {folder}/started"\n')
    code, said = run(*words)
    assert not (folder / "started").exists()
    assert code in (2, 4)
    assert "is not trusted yet" in said
    assert f"runs the command: touch {folder}/started" in said


def test_trust_is_asked_once_for_a_folder_and_its_content(folder: Path) -> None:
    (folder / FILE).write_text('[models.m]\nurl = "http://127.0.0.1:9/v1"\nmodel = "x"\n')
    with pytest.raises(UsageError, match="is not trusted yet"):
        load_models(folder, "m")
    assert run("trust")[0] == 2, "without a terminal nothing is agreed to"
    with pytest.raises(UsageError, match="is not trusted yet"):
        load_models(folder, "m")
    code, said = run("trust", "--yes")
    assert (code, "http://127.0.0.1:9/v1" in said) == (0, True)
    assert load_models(folder, "m")
    with (folder / FILE).open("a") as file:
        file.write('api_key_env = "AWS_SECRET_ACCESS_KEY"\n')
    with pytest.raises(UsageError, match="AWS_SECRET_ACCESS_KEY"):
        load_models(folder, "m")


def test_what_columns_are_called_needs_no_new_trust(folder: Path) -> None:
    text = '[models.m]\nurl = "http://127.0.0.1:9/v1"\nmodel = "x"\n'
    (folder / FILE).write_text(text)
    assert run("trust", "--yes")[0] == 0
    (folder / FILE).write_text(f'# by hand\n{text}\n[columns."Fee £"]\ncalled = ["takings"]\n')
    assert load_models(folder, "m")
    (folder / FILE).write_text(text.replace(":9", ":10"))
    with pytest.raises(UsageError, match="is not trusted yet"):
        load_models(folder, "m")


def test_trust_does_not_move_to_another_folder(folder: Path, tmp_path: Path) -> None:
    text = '[models.m]\nurl = "http://127.0.0.1:9/v1"\nmodel = "x"\n'
    (folder / FILE).write_text(text)
    trust_folder(folder)
    (tmp_path / FILE).write_text(text)
    with pytest.raises(UsageError, match="is not trusted yet"):
        load_settings(tmp_path)


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ('source = "sales.csv"\ntimezone = "UTC"', ()),
        ('source = "duckdb://sales.duckdb"', ()),
        ('model = "none"', ()),
        ('source = "postgresql://me:hunter22@db/x"', ("source: connects to postgresql://db/x",)),
        ('model = "http://h/v1"', ("model: sends questions to http://h/v1",)),
        ('embeddings = "some/model"', ("embeddings: loads the model some/model",)),
        (
            '[sources.g]\nkind = "gitlab"\nurl = "https://g"\ntoken_file = "~/.ssh/id"',
            (
                "[sources.g] kind = gitlab",
                "[sources.g] connects to https://g",
                "[sources.g] sends the secret in the file ~/.ssh/id",
            ),
        ),
        (
            '[sources.s]\nmcp = "sh -c x"\nenv = ["A", "B"]',
            (
                "[sources.s] runs the command: sh -c x",
                "[sources.s] gives the command the environment variables: A, B",
            ),
        ),
    ],
)
def test_everything_the_file_wants_is_named(written: str, wanted: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(written)
    assert wanted_by(tmp_path)[0] == wanted
    if not wanted:
        load_settings(tmp_path)


def test_trust_is_private(folder: Path) -> None:
    (folder / FILE).write_text('embeddings = "x"\n')
    trust_folder(folder)
    kept = state_folder() / "trusted"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o700
    assert {stat.S_IMODE(marker.stat().st_mode) for marker in kept.iterdir()} == {0o600}


def test_a_link_to_a_trusted_file_is_not_trusted(folder: Path, tmp_path: Path) -> None:
    """The commands of the file would run in the stranger's folder, and start the stranger's scripts."""
    own = tmp_path / "own"
    own.mkdir()
    (own / FILE).write_text('[sources.x]\nmcp = "python server.py"\n')
    trust_folder(own)
    load_settings(own)
    (folder / FILE).symlink_to(own / FILE)
    with pytest.raises(UsageError, match="is not trusted yet"):
        load_settings(folder)
    code, said = run("sources", "list")
    assert code in (2, 4)
    assert "is not trusted yet" in said


def test_a_folder_is_trusted_by_whatever_path(folder: Path, tmp_path: Path) -> None:
    (folder / FILE).write_text('embeddings = "x"\n')
    trust_folder(folder)
    (tmp_path / "link").symlink_to(folder)
    load_settings(tmp_path / "link")
