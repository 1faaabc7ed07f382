"""A page for each code the gate can give, made from the rule's docstring and its cases."""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import yaml

from groundplan.checking.gate import CODES
from groundplan.checking.parsing import PARSING_CODES

from .markdown import document, table

Case = Mapping[str, Any]


@dataclass(frozen=True)
class Entry:
    """What one code means: the rule's own words, and cases that pass and fail."""

    code: str
    must_hold: str
    explanation: str
    cases: Sequence[Case] = ()

    @property
    def family(self) -> str:
        return self.code.partition("/")[0]


def pages(root: Path) -> Mapping[str, str]:
    found = [*_parsing_entries(), *_rule_entries(root / "tests" / "checking")]
    entries = sorted(found, key=lambda entry: entry.code)
    return {
        "rules/index.md": document(_index(entries)),
        **{f"rules/{entry.code}.md": document(_page(entry)) for entry in entries},
    }


def _parsing_entries() -> Iterator[Entry]:
    for code, sentence in PARSING_CODES.items():
        yield Entry(code, sentence, "Found while the file is read, before there is a plan that a rule could see.")


def _rule_entries(folder: Path) -> Iterator[Entry]:
    cases = _load_cases(folder)
    for code, rule in CODES.items():
        first, _, rest = (inspect.getdoc(rule) or "").partition("\n")
        yield Entry(code, first, rest.strip(), cases[rule.__name__])


def _load_cases(folder: Path) -> Mapping[str, Sequence[Case]]:
    found: dict[str, list[Case]] = defaultdict(list)
    for file in sorted(folder.glob("*.yaml")):
        for case in yaml.safe_load(file.read_text(encoding="utf-8")) or ():
            found[case["rule"]].append(_without(case, "rule"))
    return found


def _index(entries: Sequence[Entry]) -> Iterator[str]:
    yield "# Rules of the gate"
    yield ""
    yield f"{len(entries)} codes. All rules run on every plan, so that one look shows every fault."
    yield "[Read the gate's output](../how-to/read-the-gates-output.md) explains what is printed."
    for family, members in groupby(entries, key=lambda entry: entry.family):
        yield ""
        yield f"## {family}"
        yield ""
        rows = ((f"[`{entry.code}`]({entry.code}.md)", entry.must_hold) for entry in members)
        yield from table(("code", "what must hold"), rows)


def _page(entry: Entry) -> Iterator[str]:
    yield f"# {entry.code}"
    yield ""
    yield entry.must_hold
    yield ""
    yield entry.explanation
    yield from _examples(
        "Passes", [_without(case, "fails", "hint", "problem") for case in entry.cases if "passes" in case]
    )
    yield from _examples("Fails", [_without(case, "passes") for case in entry.cases if "fails" in case])


def _examples(title: str, cases: Sequence[Case]) -> Iterator[str]:
    if cases:
        yield ""
        yield f"## {title}"
    for case in cases:
        yield ""
        yield "```yaml"
        yield yaml.safe_dump(case, sort_keys=False, allow_unicode=True, width=100, default_flow_style=None).rstrip()
        yield "```"


def _without(case: Case, *keys: str) -> Case:
    return {key: value for key, value in case.items() if key not in keys}
