"""The documentation is true: generated pages are fresh, links lead somewhere, examples pass the gate."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from docs.generating.requirements import Requirement, find_proofs, load

from groundplan.catalog.catalog import Catalog
from groundplan.checking.gate import CODES, check_text
from groundplan.checking.parsing import PARSING_CODES
from groundplan.contracts.schema import Column, SourceSchema, Table
from groundplan.contracts.verdict import Passed

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *(page for page in DOCS.rglob("*.md") if "generating" not in page.parts)])
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
JSON = re.compile(r"^```json\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_stale_pages_are_named_and_no_other(tmp_path: Path) -> None:
    """One run, because each makes every page; that ours are fresh is a phase of CI."""
    copy = copy_of_the_docs(tmp_path)
    edited = ["requirements.md", "reference/command-line.md", "reference/tools.md", "reference/schemas/Plan.json"]
    for page in edited:
        (copy / "docs" / page).write_text("edited by hand")
    (copy / "docs" / "rules" / "names" / "gone.md").write_text("# names/gone")
    finished = generate(copy)
    assert finished.returncode == 1
    named = [
        line.removeprefix("docs/").partition(" is stale")[0]
        for line in finished.stderr.splitlines()
        if "is stale" in line
    ]
    assert sorted(named) == sorted([*edited, "rules/names/gone.md"])


def test_a_mark_with_an_unknown_requirement_stops_the_build(tmp_path: Path) -> None:
    copy = copy_of_the_docs(tmp_path)
    (copy / "tests" / "test_planted.py").write_text(
        'import pytest\n\n@pytest.mark.requirement("R99")\ndef test_planted() -> None: ...\n'
    )
    finished = generate(copy)
    assert finished.returncode == 1
    assert "tests/test_planted.py::test_planted marks 'R99'" in finished.stderr


def test_marks_are_found_on_functions_classes_and_modules(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_planted.py").write_text(
        "import pytest\n"
        'pytestmark = [pytest.mark.slow, pytest.mark.requirement("R1")]\n'
        '@pytest.mark.requirement("R2", "R3")\nasync def test_one(): ...\n'
        '@pytest.mark.requirement("R4", part="half")\nclass TestGroup:\n    def test_two(self): ...\n'
        '@pytest.mark.requirement("R5")\ndef not_a_test(): ...\n'
    )
    one, two = "tests/test_planted.py::test_one", "tests/test_planted.py::TestGroup::test_two"
    proofs = find_proofs(tmp_path / "tests")
    assert proofs == {("R1", ""): [one, two], ("R2", ""): [one], ("R3", ""): [one], ("R4", "half"): [two]}


def test_a_requirement_with_parts_is_proven_only_when_each_of_them_is() -> None:
    whole, parts = Requirement("R1", "area", "sentence"), Requirement("R2", "area", "sentence", ("cli", "http"))
    assert whole.missing({("R1", ""): ["a test"]}) == []
    assert parts.missing({("R2", "cli"): ["a test"]}) == ["http"]
    assert parts.missing({("R2", "cli"): ["a test"], ("R2", "http"): ["another"]}) == []


def test_the_requirements_are_R1_to_R90() -> None:  # noqa: N802
    assert [item.id for item in load(DOCS / "requirements.yaml")] == [f"R{number}" for number in range(1, 91)]


@pytest.mark.requirement("R34")
def test_every_code_of_the_gate_has_a_page() -> None:
    written = {f"{page.parent.name}/{page.stem}" for page in (DOCS / "rules").glob("*/*.md")}
    assert written == {*CODES, *PARSING_CODES}


@pytest.mark.requirement("R34")
@pytest.mark.parametrize("code", sorted(CODES))
def test_every_rule_page_shows_a_case_that_passes_and_one_that_fails(code: str) -> None:
    text = (DOCS / "rules" / f"{code}.md").read_text()
    assert "Fails: " in text
    assert "\n## Passes\n" in text
    assert "\n## Fails\n" in text


def test_every_keyword_and_role_of_the_tools_is_explained() -> None:
    used = "".join(file.read_text() for file in (ROOT / "src/groundplan/sources").glob("*/tools.yaml"))
    words = {*re.findall(r"\b(x-[a-z]+):", used), *re.findall(r"x-role: ([a-z_]+)", used)}
    explained = (DOCS / "generating" / "tools_preface.md").read_text()
    assert not {word for word in words if f"`{word}`" not in explained}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(FENCE.sub("", page.read_text())):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.relative_to(ROOT)} links to {link}, which does not exist"
        assert not anchor or anchor in anchors(target), f"{page.relative_to(ROOT)}: {link} has no such heading"


def test_every_page_written_by_hand_is_in_the_navigation() -> None:
    listed = {*pages_in(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"])}
    pages = {page.relative_to(DOCS).as_posix() for page in PAGES if page.is_relative_to(DOCS)}
    assert {page for page in pages if not re.fullmatch(r"rules/\w+/.+", page)} == listed


ELSEWHERE = {"use-mcp-tools.md"}  # its plan runs on a server: tests/mcp
WITH_PLANS = [page for page in PAGES if JSON.search(page.read_text()) and page.name not in ELSEWHERE]


@pytest.mark.parametrize("page", WITH_PLANS, ids=lambda page: page.name)
def test_example_plans_pass_the_gate(page: Path) -> None:
    catalog = Catalog.load([ROOT / "src/groundplan/sources/tables/tools.yaml"])
    for block in JSON.findall(page.read_text()):
        verdict = check_text(block, catalog, {"tables": SALES})
        assert isinstance(verdict, Passed), verdict.issues
        assert not verdict.issues
        question = json.loads(block)["reading"]["question"]
        assert all(item.words in question for item in verdict.plan.requirements)


def column(name: str, kind: str, role: str) -> Column:
    return Column.model_validate({"name": name, "type": kind, "kind": kind, "role": role})


SALES = SourceSchema(
    source="tables",
    engine="duckdb",
    tables=(
        Table(
            name="sales",
            columns=(
                column("date", "time", "temporal"),
                column("region", "text", "dimension"),
                column("product_category", "text", "dimension"),
                column("channel", "text", "dimension"),
                column("units", "number", "measure"),
                column("revenue", "number", "measure"),
                column("cost", "number", "measure"),
            ),
        ),
    ),
)


def generate(root: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(root / "docs" / "generate.py"), "--check"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def copy_of_the_docs(folder: Path) -> Path:
    """Docs, tests and sources, so that a fault can be planted in them."""
    for name in ("docs", "tests", "src"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in headings}


def pages_in(nav: object) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    elif isinstance(nav, dict):
        for inner in nav.values():
            yield from pages_in(inner)
    elif isinstance(nav, list):
        for inner in nav:
            yield from pages_in(inner)


QUOTED = re.compile(r"\b\d\.\d{2,3}\b")


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", DOCS / "explanation" / "how-it-compares.md"], ids=lambda page: page.name
)
def test_each_figure_is_one_of_the_page_of_figures(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    measured = {*QUOTED.findall((DOCS / "figures.md").read_text(encoding="utf-8"))}
    quoted = QUOTED.findall(text.partition("## Its numbers")[2].partition("\n## ")[0] or text)
    assert quoted
    assert [figure for figure in quoted if not any(one.startswith(figure) for one in measured)] == []
