"""A prompt is a file: a header that names its inputs and the contract it asks for, then the text."""

from __future__ import annotations

import re
from pathlib import Path

import yaml
from pydantic import ValidationError

from groundplan.contracts.contract import Contract
from groundplan.errors import CatalogError, UsageError
from groundplan.text.plain_yaml import load_yaml

FOLDER = Path(__file__).parent.parent / "prompts"

_FILE = re.compile(r"---\n(.*?)\n---\n(.*)", re.DOTALL)
_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")


class Prompt(Contract):
    """`into` names the contract of the reply; it is absent if the text is only part of another prompt."""

    into: str | None = None
    uses: tuple[str, ...] = ()
    text: str

    def fill(self, **values: str) -> str:
        """Fill the placeholders in one pass: a placeholder inside a value stays plain text."""
        if {*values} != {*self.uses}:
            raise UsageError(f"the prompt uses {', '.join(self.uses) or 'nothing'}; it was given {', '.join(values)}")
        return _PLACEHOLDER.sub(lambda found: values[found[1]], self.text)


def load_prompt(name: str, folder: Path = FOLDER) -> Prompt:
    """Load the file `name.md`; raises CatalogError if its header and text name different placeholders."""
    file = folder / f"{name}.md"
    parts = _FILE.fullmatch(file.read_text(encoding="utf-8"))
    if not parts:
        raise CatalogError(f"{file}:1: a prompt begins with a header between two lines of ---; add one")
    try:
        prompt = Prompt.model_validate({**(load_yaml(parts[1]) or {}), "text": parts[2].strip()})
    except (ValidationError, yaml.YAMLError, TypeError) as error:
        raise CatalogError(f"{file}:2: the header must have only `into` and `uses`: {error}") from error
    in_text = {*_PLACEHOLDER.findall(prompt.text)}
    if in_text != {*prompt.uses}:
        odd = ", ".join(sorted(in_text ^ {*prompt.uses}))
        raise CatalogError(f"{file}:2: header and text differ in {odd}; list every placeholder under `uses`")
    return prompt
