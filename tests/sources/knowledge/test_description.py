"""knowledge.yaml: what it says is taken strictly, and every fault has its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.sources.knowledge.small import DESCRIPTION, write

from groundplan.errors import SourceError, UsageError
from groundplan.sources.knowledge.description import load_description


@pytest.mark.requirement("R4", "R47")
def test_a_description_gives_types_relations_and_a_closed_set_of_intents(tmp_path: Path) -> None:
    schema = load_description(write(tmp_path)).schema
    assert [kind.name for kind in schema.types] == ["person", "project", "technology"]
    assert [(relation.name, relation.origin, relation.target) for relation in schema.relations] == [
        ("worked_on", "person", "project"),
        ("uses", "project", "technology"),
    ]
    assert {intent.name: intent.path for intent in schema.intents} == {
        "stack": ("uses",),
        "usage": ("^uses",),
        "details": (),
        "skills": ("worked_on", "uses"),
        "everything": ("uses",),
    }


def test_files_come_in_the_order_they_are_listed(tmp_path: Path) -> None:
    description = load_description(write(tmp_path) / "knowledge.yaml")
    assert [path.name for path in description.graph] == ["graph.yaml", "echo.md"]
    assert [path.name for path in description.documents] == ["bridge.md", "lighthouse.md"]


@pytest.mark.parametrize(
    ("line", "instead", "says"),
    [
        ("title: A workshop", "titel: A workshop", "1: titel is not a known key; correct or remove it"),
        ("  technology:", "  person: {}", "5: the key 'person' appears twice, first on line 3; keep one"),
        ("  technology:", "  technology: {size: 3}", "5: size is not a known key; correct or remove it"),
        (
            "  worked_on: {from: person, to: project}",
            "  worked_on: {from: robot, to: project}",
            "7: relation 'worked_on' names the type 'robot', which is not among the types; correct it",
        ),
        ("  worked_on: {from: person, to: project}", "  worked_on: {from: person}", "7: to is missing; add it"),
        (
            "  usage: {about: technology, path: [^uses]}",
            "  usage: {about: technology, path: [^usse]}",
            "11: intent 'usage' goes over '^usse', which is not among the relations; correct it",
        ),
        (
            "  usage: {about: technology, path: [^uses]}",
            "  usage: {about: technology, path: [uses]}",
            "11: intent 'usage': 'uses' starts at 'project', not at 'technology'; correct it",
        ),
        (
            "  details: {about: project}",
            "  details: {about: project, render: SONG}",
            "12: render: input should be 'SHORT', 'BULLETS', 'GROUPED_BULLETS' or 'TABLE'; correct it",
        ),
        (
            "documents: [documents/*.md]",
            "documents: [pages/*.md]",
            "16: 'pages/*.md' matches no file; correct or remove it",
        ),
        (
            "documents: [documents/*.md]",
            "documents: [../*.md]",
            "16: '../*.md' is outside the folder; name files in it",
        ),
        (
            "documents: [documents/*.md]",
            "documents: [/etc/passwd]",
            "16: '/etc/passwd' is outside the folder; name files in it",
        ),
        (
            "  worked_on: {from: person, to: project}",
            "  worked_on: &a [*a]",
            "7: *a is an alias; write the value out",
        ),
        ("title: A workshop", "title: !!python/name:os.system x", "1: 'x' has the YAML tag"),
        ("title: A workshop", "title: {a: 1", "2: "),
    ],
)
def test_a_fault_is_said_with_its_line(line: str, instead: str, says: str, tmp_path: Path) -> None:
    assert line in DESCRIPTION
    folder = write(tmp_path, DESCRIPTION.replace(line, instead))
    with pytest.raises(SourceError) as refused:
        load_description(folder)
    assert str(refused.value).startswith(f"{folder / 'knowledge.yaml'}:{says}")


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret")
    (tmp_path / "base").mkdir()
    folder = write(tmp_path / "base")
    (folder / "documents" / "secret.md").symlink_to(tmp_path / "secret.md")
    with pytest.raises(SourceError, match=r"knowledge.yaml:16: 'secret.md' links to a file outside the folder"):
        load_description(folder)


def test_a_folder_without_a_description_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"knowledge.yaml: there is no such file"):
        load_description(tmp_path)
