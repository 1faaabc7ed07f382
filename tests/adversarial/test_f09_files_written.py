"""The report and the CSV files hold data as text: no link, image, script or formula of a cell takes effect."""

from __future__ import annotations

import ast
import csv
import re
from pathlib import Path

import pytest

import groundplan
from groundplan.interfaces import report
from groundplan.text.printable import markdown, spreadsheet

CELLS = [
    "![x](http://evil.example/p.png)",
    "[click](javascript:alert(1))",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "http://evil.example/auto",
    "www.evil.example",
    "<http://evil.example>",
    "`code` | cell\n# heading",
    "&lt;b&gt;",
    "me@evil.example",
    "[ref]: http://evil.example",
    "\\[not escaped](http://evil.example)",
]
CSV_WRITERS = ("csv.writer", "csv.DictWriter", "pyarrow.csv.write_csv")
FORMULAS = ["=1+1", "+1", "-1+1", "@SUM(A1)", "\t=1+1", "\r=1+1", "\n=1+1", " =1+1", "＝1+1", "\t\t@x"]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an answer that shows these cells, in a column with a hostile name."""
    import pandas

    frame = pandas.DataFrame({"note ![y](http://evil.example/c)": [*CELLS, *FORMULAS], "revenue": 1})
    folder = tmp_path_factory.mktemp("report")
    with groundplan.open({"notes": frame}) as project:
        answer = project.ask("show all rows")
    assert answer.kind == "answer", answer.text
    report.write(answer.outcome, folder, "show <b>all</b> ![q](http://evil.example/q)")
    return folder


def test_the_report_has_no_markup_of_a_cell(written: Path) -> None:
    text = (written / "report.md").read_text(encoding="utf-8")
    assert "evil" in text
    assert not re.search(r"<(?!http)", text), "no HTML"
    assert not re.search(r"(?<!\\)\]\((?!\w+\.(png|csv)\))", text), "no link but to our own files"
    assert not re.search(r"(?<!\\)://|(?i:www)\.", text), "no address that becomes a link"
    for line in text.splitlines():
        assert not line.startswith("# heading")


@pytest.mark.parametrize("cell", CELLS)
def test_a_renderer_makes_nothing_of_it(cell: str) -> None:
    renderer = pytest.importorskip("markdown_it")
    html = (
        renderer.MarkdownIt("gfm-like").render(markdown(cell))
        if _has_linkify()
        else renderer.MarkdownIt().render(markdown(cell))
    )
    assert not re.search(r"<(a|img|script|code|h1|table)\b", html), html


def _has_linkify() -> bool:
    try:
        import linkify_it  # noqa: F401
    except ImportError:
        return False
    return True


def test_the_csv_has_no_formula(written: Path) -> None:
    (file,) = written.glob("*.csv")
    with file.open(encoding="utf-8", newline="") as opened:
        cells = [cell for row in csv.reader(opened) for cell in row]
    assert [cell for cell in cells if re.match(r"\s*[=+\-@＝]|[\t\r\n]", cell)] == []
    assert "'\t=1+1" in cells


@pytest.mark.parametrize("formula", FORMULAS)
def test_a_saved_table_uses_the_same_encoder(formula: str) -> None:
    import pyarrow as pa

    from groundplan.sources.tables.tools.sinks import _harmless

    (saved,) = _harmless(pa.table({"a": [formula]}))["a"].to_pylist()
    assert saved == spreadsheet(formula) == f"'{formula}"


def test_only_the_report_and_the_sink_write_such_files() -> None:
    """Whoever writes Markdown or CSV next must use the encoders too."""
    source = Path(__file__).parents[2] / "src" / "groundplan"
    writers = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in ("csv.writer", "csv.DictWriter", "pyarrow.csv.write_csv")
    }
    ours = {"text/printable.py", "sources/tables/tools/sinks.py"}
    rewriting = {"sources/tables/files/csv.py", "interfaces/cli/demo_sales.py"}  # read back by us, or made by us
    assert {name for name in writers if not name.startswith("evaluation/")} == ours | rewriting
