"""The prompts as a model gets them, each with what its text costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

from groundplan.llm.prompt import FOLDER, load_prompt

from .markdown import code, document, table

TOKENS = Path(__file__).with_name("prompt_tokens.yaml")


def page() -> str:
    names = sorted(file.stem for file in FOLDER.glob("*.md"))
    counted = load_counts()
    return document([*_opening(names, counted), *(line for name in names for line in _prompt(name))])


def load_counts() -> Mapping[str, int]:
    """Tokens by the name of a prompt, as the tokenizer of Qwen2.5 counts them; a test with the model checks them."""
    counts: Mapping[str, int] = yaml.safe_load(TOKENS.read_text(encoding="utf-8"))
    return counts


def _opening(names: list[str], counted: Mapping[str, int]) -> Iterator[str]:
    yield "# Prompts"
    yield ""
    yield "All that is said to a model, file by file under `src/groundplan/prompts`. A place such as `{{question}}` is"
    yield "filled in. The tokens are those of the text around the places, by the tokenizer of Qwen2.5-Coder-1.5B; on"
    yield "two cores it reads about 45 of them in a second."
    yield ""
    yield from table(("prompt", "asks for", "is given", "tokens"), (_row(name, counted) for name in names))


def _row(name: str, counted: Mapping[str, int]) -> tuple[str, str, str, str]:
    prompt = load_prompt(name)
    given = ", ".join(code(place) for place in prompt.uses)
    return code(name), code(prompt.into or ""), given, str(counted.get(name, "not counted yet"))


def _prompt(name: str) -> Iterator[str]:
    yield from ("", f"## {name}", "")
    yield from ("```text", load_prompt(name).text, "```")
