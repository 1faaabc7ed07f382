"""Real questions over the example data, and drafts of their answers in a notation that people can read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import yaml

import groundplan
from groundplan import pipeline
from groundplan.answering.drafting.slots import Slot, SlotOffer, offer
from groundplan.contracts.answer import ShownTable
from groundplan.contracts.contract import Language
from groundplan.contracts.facts import Facts
from groundplan.contracts.plan import CheckedPlan

HERE = Path(__file__).parent
DATA = {"sales": HERE.parents[1] / "examples/sales.csv", "visits": HERE / "drafts/visits.csv"}
REFERENCE = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True)
class Asked:
    """What the answer to a question is written from, and its slots."""

    question: str
    language: Language
    plan: CheckedPlan
    facts: Facts
    shown: Mapping[str, ShownTable]
    offer: SlotOffer

    def draft(self, text: str) -> str:
        """The draft with slots in place of readable references."""
        names = {_reference(slot, self.offer): slot.id for slot in reversed(self.offer.slots.values())}
        return REFERENCE.sub(lambda found: f"{{{names[found[1]]}}}", text)


def ask_all() -> Iterator[tuple[Asked, list[str]]]:
    """Ask every question of the drafts for real; the drafts of its answer."""
    seen: list[tuple[Any, ...]] = []

    def answer(*given: Any, **more: Any) -> Any:
        seen.append(given)
        return pipeline_answer(*given, **more)

    pipeline_answer = pipeline.answer
    with ExitStack() as stack, patch.object(pipeline, "answer", answer):
        projects = {name: stack.enter_context(groundplan.open(file)) for name, file in DATA.items()}
        for one in yaml.safe_load((HERE / "drafts/true.yaml").read_text(encoding="utf-8")):
            projects[one.get("data", "sales")].ask(one["question"])
            plan, facts, shown, _ = seen.pop()
            language = one.get("language", "en")
            found = offer(plan, facts, shown, language)
            assert found is not None, one["question"]
            asked = Asked(one["question"], language, plan, facts, shown, found)
            yield asked, [asked.draft(text) for text in one["drafts"]]


def _reference(slot: Slot, offered: SlotOffer) -> str:
    """`West`, `West|revenue`, `West|share`, `2024>2025`, `=West`."""
    match slot.kind:
        case "name":
            return _name(slot, offered)
        case "condition" | "clause":
            return f"={slot.cite.text.strip('«»')}"
    names = {other.column: other for other in offered.slots.values() if other.kind == "name" and _is_of(other, slot)}
    row = "/".join(_name(names[column], offered) for column in slot.at)
    if slot.sort == "change":
        ends = [
            next(_name(o, offered) for o in offered.slots.values() if o.kind == "name" and o.at == {offered.axis: end})
            for end in slot.span or ()
        ]
        return f"{row}|{'>'.join(ends)}" if row else ">".join(ends)
    return f"{row}|{'share' if slot.sort == 'share' else _measure(slot, offered)}"


def _is_of(name: Slot, number: Slot) -> bool:
    return number.at.get(name.column, ...) == name.at[name.column]


def _name(slot: Slot, offered: SlotOffer) -> str:
    return slot.cite.text.strip("«»")


def _measure(slot: Slot, offered: SlotOffer) -> str:
    measure = offered.subject.measures[slot.column]
    if offered.subject.kind == "changes" and slot.column == offered.subject.params["as"]:
        return "growth"
    if measure.function == "count" and measure.of is None:
        return "count"
    return measure.of or slot.column
