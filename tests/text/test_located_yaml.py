"""YAML values come with the line they stand on, and everything wrong with a file is said."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from groundplan.text.located_yaml import File, Located, entries, whole

PATH = Path("a.yaml")
TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cf", "Zl", "Zp"]), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=12,
)
SOUND = """\
title: Two rooms
rooms:
  - name: north
    size: {width: 3,
      depth: 4.5}
  - name: south
"""


def read(text: str, *, as_written: bool = False, lines_above: int = 0) -> tuple[Located | None, list[str]]:
    problems: list[str] = []
    return whole(File(PATH, text.encode(), lines_above), problems, as_written=as_written), problems


def value_of(text: str, *, as_written: bool = False) -> object:
    found, problems = read(text, as_written=as_written)
    assert not problems
    assert found is not None
    return found.value


@given(st.dictionaries(TEXTS, VALUES, max_size=4), st.booleans(), st.booleans())
def test_what_the_library_writes_is_read_back(value: dict[str, object], flow: bool, as_written: bool) -> None:
    text = yaml.safe_dump(value, allow_unicode=True, default_flow_style=flow)
    assert value_of(text, as_written=as_written) == value


def test_every_value_has_the_line_of_its_key_or_item() -> None:
    found, _ = read(SOUND)
    assert found is not None
    lines = {".".join(map(str, at)): line for at, line in found.lines.items()}
    assert lines == {
        **{"": 1, "title": 1, "rooms": 2, "rooms.0": 3, "rooms.0.name": 3, "rooms.0.size": 4},
        **{"rooms.0.size.width": 4, "rooms.0.size.depth": 5, "rooms.1": 6, "rooms.1.name": 6},
    }


def test_a_fault_is_placed_at_the_nearest_line_there_is() -> None:
    found, _ = read(SOUND, lines_above=10)
    assert found is not None
    assert found.fault("no colour", ("rooms", 1, "colour", "shade")) == "a.yaml:16: no colour"
    assert Located(PATH, {}).where(("rooms", 1)) == "a.yaml:1"


def test_a_long_list_comes_item_by_item() -> None:
    problems: list[str] = []
    found = list(entries(File(PATH, SOUND.encode()), problems))
    assert [entry.place for entry in found] == [("title",), ("rooms", 0), ("rooms", 1)]
    assert [entry.where(("name",)) for entry in found] == ["a.yaml:1", "a.yaml:3", "a.yaml:6"]
    assert not problems


def test_entries_before_a_fault_are_given() -> None:
    problems: list[str] = []
    found = entries(File(PATH, b"a: [1, 2]\nb: [3\n"), problems)
    assert [entry.value for entry in found] == [1, 2, 3]
    assert problems == ["a.yaml:3: did not find expected ',' or ']'; correct the YAML"]


def test_files_read_as_written_keep_keys_and_dates_as_text() -> None:
    text = "on: 2025-01-31\n2024: .inf\nyes: [no, 7, 1.5, '7', ~]\n"
    kept = {"on": "2025-01-31", "2024": ".inf", "yes": [False, 7, 1.5, "7", None]}
    assert value_of(text, as_written=True) == kept
    assert len(read(text)[1]) == 5


def test_anchors_are_shared_unless_a_file_is_read_as_written() -> None:
    text = "a: &x {b: 1}\nc: *x\n"
    assert value_of(text) == {"a": {"b": 1}, "c": {"b": 1}}
    assert read(text, as_written=True)[1] == ["a.yaml:2: *x is an alias; write the value out"]


@pytest.mark.parametrize("text", ["", "# nothing yet\n"])
def test_only_a_file_read_as_written_may_be_empty(text: str) -> None:
    assert value_of(text, as_written=True) == {}
    assert read(text) == (None, [f"a.yaml:{text.count('#') + 1}: the file is not a mapping; write keys with values"])


@pytest.mark.parametrize("as_written", [False, True])
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("- a\n", "1: the file is not a mapping; write keys with values"),
        ("a: 1\nb: 2\na: 3\n", "3: the key 'a' appears twice, first on line 1; keep one"),
        ("a: 1\n? [b]\n: 2\n", "2: a key is not plain text; correct the YAML"),
        ("a: !!python/name:os.system x\n", "1: 'x' has the YAML tag 'tag:yaml.org,2002:python/name:os.system'"),
        ("a: 1\n---\nb: 2\n", "2: a second YAML document begins; keep one document in a file"),
        ("a: " + "[" * 500 + "]" * 500, "1: values are nested deeper than 32 levels; correct the YAML"),
        ("a: \x07\n", "1: unacceptable character"),
    ],
)
def test_a_fault_is_said_with_its_line(text: str, says: str, as_written: bool) -> None:
    _, (problem,) = read(text, as_written=as_written)
    assert problem.startswith(f"a.yaml:{says}")
