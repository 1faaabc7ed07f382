"""The vocabulary is complete, and the build fails when it is not."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from groundplan.catalog.catalog import Catalog
from groundplan.catalog.loading import load_file
from groundplan.catalog.store import compile_tools
from groundplan.catalog.vocabulary import CAPABILITIES, REQUIREMENTS, Vocabulary, load_vocabulary
from groundplan.contracts.tool import Tool
from groundplan.errors import CatalogError
from tests.catalog.gaps import audit
from tests.catalog.test_catalog import tool
from tests.catalog.test_loading import BUILT_IN

OTHERS = ("knowledge", "gitlab", "youtrack")
REFERENCE = Path(__file__).parents[2] / "docs/reference/tools.md"


@pytest.fixture(scope="module")
def built_in() -> Catalog:
    return Catalog.load([BUILT_IN, *(BUILT_IN.parents[1] / source / "tools.yaml" for source in OTHERS)])


def changed(catalog: Catalog, tools: Iterable[Tool] = (), **words: Any) -> Catalog:
    """The catalog with other words, or with further tools."""
    vocabulary = Vocabulary.model_validate({**catalog.vocabulary.model_dump(), **words})
    return Catalog(compile_tools([*catalog.tools.values(), *tools], vocabulary))


@pytest.mark.requirement("R12")
def test_every_label_and_every_capability_is_mapped(built_in: Catalog) -> None:
    assert audit(built_in, REFERENCE.read_text()) == []


@pytest.mark.requirement("R12")
@pytest.mark.parametrize(
    "label", ["metric", "group_by", "time", "filter", "rank", "goal", "analysis:trend", "output:file"]
)
def test_an_unmapped_label_fails_the_build(label: str, built_in: Catalog) -> None:
    mapped = {name: listed for name, listed in built_in.vocabulary.requirements.items() if name != label}
    wanted = f"no capability serves the requirement {label!r}; map it in requirements.yaml"
    assert wanted in audit(changed(built_in, requirements=mapped))
    assert wanted in audit(changed(built_in, requirements={**mapped, label: ()}))


@pytest.mark.requirement("R12")
def test_a_map_to_an_unknown_capability_fails_the_build(built_in: Catalog) -> None:
    mapped = {**built_in.vocabulary.requirements, "rank": ("rank", "astrology")}
    assert audit(changed(built_in, requirements=mapped)) == [
        "'rank' is mapped to the unknown capability 'astrology'; describe it in capabilities.yaml"
    ]


def test_a_label_that_no_requirement_has_fails_the_build(built_in: Catalog) -> None:
    mapped = {**built_in.vocabulary.requirements, "analysis:astrology": ("rank",)}
    assert audit(changed(built_in, requirements=mapped)) == [
        "requirements.yaml maps 'analysis:astrology', which is not a label; remove it"
    ]


@pytest.mark.requirement("R12")
def test_a_core_capability_that_is_not_described_fails_the_build(built_in: Catalog) -> None:
    assert audit(changed(built_in, core=("aggregate", "astrology"))) == [
        "the core names the unknown capability 'astrology'; describe it in capabilities.yaml"
    ]


@pytest.mark.requirement("R12")
@pytest.mark.parametrize(
    ("capability", "said"),
    [
        (
            {"description": "Reads the stars."},
            "no tool has the capability 'astrology'; remove it, or reserve it and say why",
        ),
        (
            {"description": "Reads the stars.", "reserved": True},
            "the description of 'astrology' does not say why it is reserved",
        ),
        (
            {
                "description": "Reads the stars. Reserved for later.",
                "reserved": True,
                "asked_by": ("analysis:stars",),
            },
            "the capability 'astrology' is asked by 'analysis:stars', which is not a label; correct it",
        ),
    ],
)
def test_a_capability_that_no_tool_has_fails_the_build(
    capability: dict[str, Any], said: str, built_in: Catalog
) -> None:
    capabilities = {**built_in.vocabulary.model_dump()["capabilities"], "astrology": capability}
    assert audit(changed(built_in, capabilities=capabilities)) == [said]


def test_a_reserved_capability_that_a_tool_has_fails_the_build(built_in: Catalog) -> None:
    assert audit(changed(built_in, [tool("send_mail", "act")])) == [
        "the capability 'act' is reserved though a tool has it; remove 'reserved'"
    ]


@pytest.mark.requirement("R11", "R12")
def test_a_tool_with_a_capability_that_nothing_describes_fails_the_build(built_in: Catalog) -> None:
    assert audit(changed(built_in, [tool("read_stars", "astrology")])) == [
        "tool 'read_stars' has the capability 'astrology', which nothing describes or maps"
    ]


@pytest.mark.requirement("R11")
def test_a_tool_without_a_sentence_or_a_place_in_the_reference_fails_the_build(built_in: Catalog) -> None:
    hasty = tool("count_stars").model_copy(update={"description": "Counts the stars"})
    assert audit(changed(built_in, [hasty]), REFERENCE.read_text()) == [
        "the description of tool 'count_stars' does not end with a full stop",
        "tool 'count_stars' is not in the reference page",
    ]


def test_an_alias_that_already_means_something_is_refused_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "capabilities.yaml"
    text = CAPABILITIES.read_text().replace("aliases: [segmentation]", "aliases: [aggregation]")
    file.write_text(text)
    line = text[: text.rindex("[aggregation]")].count("\n") + 1
    with pytest.raises(CatalogError) as refused:
        load_vocabulary(load_file(file), load_file(REQUIREMENTS))
    said = f"{file}:{line}: the alias 'aggregation' of 'segment' already means 'aggregate'; remove one"
    assert str(refused.value) == said


def test_a_misspelt_key_of_the_vocabulary_is_refused_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "requirements.yaml"
    file.write_text(REQUIREMENTS.read_text().replace("version: 4", "verzion: 4"))
    with pytest.raises(CatalogError) as refused:
        load_vocabulary(load_file(CAPABILITIES), load_file(file))
    assert "requirements.yaml:4: the vocabulary has an unknown key 'verzion'; did you mean 'version'?" in str(
        refused.value
    )
