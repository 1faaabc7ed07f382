"""Every fault of a tool file is said with its file and line, and what to do about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from groundplan.catalog.catalog import Catalog
from groundplan.contracts.contract import thaw
from groundplan.errors import CatalogError

FOLDER = Path(__file__).parent
BUILT_IN = FOLDER.parents[1] / "src/groundplan/sources/tables/tools.yaml"
CASES = yaml.safe_load((FOLDER / "faults.yaml").read_text())

ONE_TOOL = """\
source: tables
tools:
  - name: count_rows
    description: Count the rows of a table.
    capabilities: [measure]
    inputs: [{name: table}]
    params: %s
    output: {kind: table}
"""


@pytest.mark.requirement("R11")
@pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])
def test_a_faulty_file_is_refused_with_all_its_faults(case: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "tools.yaml"
    file.write_text(case.get("file") or ONE_TOOL % case["params"])
    with pytest.raises(CatalogError) as refused:
        Catalog.load([file])
    said = str(refused.value).replace(f"{tmp_path}/", "").split("\n")
    assert said == [f"tools.yaml:{line}" for line in case["says"]]


@pytest.mark.requirement("R11")
def test_a_sound_file_gives_its_tools(tmp_path: Path) -> None:
    file = tmp_path / "tools.yaml"
    file.write_text(ONE_TOOL % "{type: object, additionalProperties: false}")
    tool = Catalog.load([file]).tools["count_rows"]
    assert (tool.source, tool.effect, tool.cost) == ("tables", "write", 1)


def test_a_name_used_in_two_files_is_refused_in_the_second(tmp_path: Path) -> None:
    files = [tmp_path / "first.yaml", tmp_path / "second.yaml"]
    for file in files:
        file.write_text(ONE_TOOL % "{type: object, additionalProperties: false}")
    with pytest.raises(CatalogError, match=r"second.yaml:3: .* already defined at .*first.yaml:3"):
        Catalog.load(files)


def test_faults_of_all_files_are_said_at_once(tmp_path: Path) -> None:
    for name in ("first.yaml", "second.yaml"):
        (tmp_path / name).write_text("source: tables\n")
    with pytest.raises(CatalogError) as refused:
        Catalog.load([tmp_path / "first.yaml", tmp_path / "second.yaml"])
    assert len(str(refused.value).split("\n")) == 2


def test_a_missing_file_is_a_catalog_error(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match=r"absent.yaml:1: cannot be read"):
        Catalog.load([tmp_path / "absent.yaml"], cache=tmp_path)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "tools.yaml"
    file.write_bytes(b"source: \xff\xfe\n")
    with pytest.raises(CatalogError, match=r"tools.yaml:1: "):
        Catalog.load([file])


def test_values_nested_without_end_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "tools.yaml"
    file.write_text(f"source: tables\ntools:\n  - {'[' * 500}{']' * 500}\n")
    with pytest.raises(CatalogError, match=r"tools.yaml:3: values are nested deeper than 32 levels"):
        Catalog.load([file])


def test_params_may_be_shared_by_anchor_and_alias() -> None:
    tools = Catalog.load([BUILT_IN]).tools
    assert tools["plot_area"].params == tools["plot_line"].params
    assert thaw(tools["plot_line"].params["required"]) == ["x", "y"]


def test_our_reader_agrees_with_the_library_on_the_built_in_tools() -> None:
    tools = Catalog.load([BUILT_IN]).tools
    written = yaml.safe_load(BUILT_IN.read_text())["tools"]
    assert sorted(tool["name"] for tool in written) == list(tools)
    for tool in written:
        own = [f"does_{tool['analysis']['label']}"] if "analysis" in tool else []
        assert tools[tool["name"]].model_dump(mode="json", include=set(tool)) == {
            **tool,
            "capabilities": [*tool["capabilities"], *own],
            "inputs": [{"kind": "table", **port} for port in tool["inputs"]],
            "output": tools[tool["name"]].output.model_dump(mode="json") | tool["output"],
        }
