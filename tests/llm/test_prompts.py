"""Every prompt file says what it uses and what it asks for, and means it."""

from __future__ import annotations

from pathlib import Path

import pytest

from groundplan.errors import CatalogError, UsageError
from groundplan.llm.prompt import FOLDER, load_prompt


@pytest.mark.parametrize("name", sorted(file.stem for file in FOLDER.glob("*.md")))
def test_header_and_text_of_every_prompt_agree(name: str) -> None:
    assert load_prompt(name).text


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("Say {{question}}.", "begins with a header"),
        ("---\nuses: [question]\n---\nSay it.", "differ in question"),
        ("---\nuses: []\n---\nSay {{question}}.", "differ in question"),
        ("---\nuse: [question]\n---\nSay {{question}}.", "`into` and `uses`"),
        ("---\n- list\n---\nSay it.", "`into` and `uses`"),
    ],
)
def test_a_prompt_whose_header_lies_is_refused(content: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "planted.md").write_text(content)
    with pytest.raises(CatalogError, match=said):
        load_prompt("planted", tmp_path)


def test_a_value_is_text_and_never_a_place(tmp_path: Path) -> None:
    (tmp_path / "planted.md").write_text("---\ninto: Reading\nuses: [question, tools]\n---\n{{question}}|{{tools}}\n")
    prompt = load_prompt("planted", tmp_path)
    assert prompt.fill(question="{{tools}} \\1", tools="secret") == "{{tools}} \\1|secret"
    with pytest.raises(UsageError, match="uses question, tools"):
        prompt.fill(question="x")
