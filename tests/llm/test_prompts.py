"""Every prompt file says what it uses and what it asks for, and means it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from docs.generating.prompts import TOKENS, load_counts

from groundplan.errors import CatalogError, UsageError
from groundplan.llm.prompt import FOLDER, load_prompt

pytest_plugins = ["tests.models"]

NAMES = sorted(file.stem for file in FOLDER.glob("*.md"))


@pytest.mark.parametrize("name", NAMES)
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


@pytest.mark.model
def test_the_tokens_of_every_prompt_are_those_that_the_model_counts(qwen_tokens: Callable[[str], int]) -> None:
    prompts = {name: load_prompt(name) for name in NAMES}
    unfilled = {name: prompt.fill(**dict.fromkeys(prompt.uses, "")) for name, prompt in prompts.items()}
    counted = {name: qwen_tokens(text) for name, text in unfilled.items()}
    right = "".join(f"{name}: {tokens}\n" for name, tokens in counted.items())
    assert load_counts() == counted, f"{TOKENS.name} should hold the following; then run `make docs`\n{right}"
