"""Reading text takes time in proportion to its length, whatever it consists of."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from groundplan.sources.knowledge.documents import Document, pieces_of
from groundplan.sources.knowledge.markdown import load_markdown

MANY = 100_000
TEXTS: dict[str, Callable[[int], str]] = {
    "signs in a heading": lambda n: "# " + "# " * n + "x",
    "spaces in a heading": lambda n: "# a" + " " * n + "b",
    "signs and tabs": lambda n: "#\t" * n,
    "empty lines": lambda n: "a" + "\n" * n + "b",
    "lines of a space": lambda n: "a\n" + " \n" * n + "b",
    "spaces": lambda n: "a" + " " * n + "b\n",
    "fences": lambda n: "```\n" * n,
    "an open fence": lambda n: "```x\n" + "a\n" * n,
    "dots": lambda n: "." * n + " " * n,
    "a long sentence": lambda n: "a" * n + "." + " " * n + "x",
    "headings": lambda n: "# a\n" * n,
    "an open fence of front matter": lambda n: "---\n" + "a: b\n" * n,
    "quotes": lambda n: "> " * n,
    "pipes": lambda n: "|" * n,
}


@pytest.mark.parametrize("kind", TEXTS)
def test_a_page_is_read_in_linear_time(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "page.md"
    file.write_text(TEXTS[kind](MANY))
    begin = time.monotonic()
    page = load_markdown(file)
    assert list(pieces_of(Document("a", "document", page.title, page.body))) is not None
    assert time.monotonic() - begin < 10, "quadratic patterns took minutes"


@pytest.mark.parametrize(
    ("written", "title"), [("# A title #\n\nText", "A title"), ("#  C# \n", "C"), ("# \n", "page"), ("Text", "page")]
)
def test_titles_are_read_as_before(written: str, title: str, tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(written)
    assert load_markdown(tmp_path / "page.md").title == title


LOADING = """
import sys, time
from groundplan.interfaces.cli.main import main
from groundplan.sources.tables.files import load
def endless(*_):
    print("loading", flush=True)
    time.sleep(60)
load._load_all = endless
sys.argv = ["groundplan", "ask", {path!r}, "total revenue"]
main()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_ends_a_file_that_is_being_loaded(tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("region,revenue\nWest,3\n")
    program = LOADING.format(path=str(tmp_path / "sales.csv"))
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout
    assert process.stdout.readline() == b"loading\n"
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == 130
