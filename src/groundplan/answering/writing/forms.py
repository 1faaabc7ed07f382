"""The sentence forms of forms.yaml: the writer fills them, and the verifier parses them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import product

from groundplan.answering.writing.phrases import JOINED
from groundplan.contracts.answer import Citation
from groundplan.contracts.contract import Language
from groundplan.text.plain_yaml import load_yaml

SLOT = re.compile(r"\{(\w+)([/,&]?)\}")
OPTIONAL = re.compile(r"\[([^\]]*)\]")
Slots = Mapping[str, tuple[Citation, ...]]


@dataclass(frozen=True)
class Slot:
    name: str
    joint: str  # the separator of several values; "" takes one value
    begins: bool  # at the start of a sentence, so capitalised


Piece = str | Slot


@dataclass(frozen=True)
class Form:
    name: str
    variants: Mapping[Language, tuple[tuple[Piece, ...], ...]]  # the longest first
    claims: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Sentence:
    """A form with its values, which gives text and citations together."""

    form: str
    slots: Slots

    def parts(self, language: Language) -> Iterator[str | Citation]:
        given = {name for name, values in self.slots.items() if values}
        variants = forms()[self.form].variants[language]
        for piece in next(variant for variant in variants if _names(variant) == given):
            if isinstance(piece, str):
                yield piece
            else:
                yield from _joined(self.slots[piece.name], joint(piece, language), piece.begins)


@cache
def forms() -> Mapping[str, Form]:
    told = load_yaml(files(__package__).joinpath("forms.yaml").read_text(encoding="utf-8"))
    return {name: _form(name, item) for name, item in told.items()}


def joint(slot: Slot, language: Language) -> str:
    return {"": "", "/": " / ", ",": ", ", "&": JOINED[language]}[slot.joint]


def _form(name: str, told: Mapping[str, object]) -> Form:
    claims = told["claims"]
    assert isinstance(claims, list)
    return Form(
        name,
        {"en": tuple(_variants(str(told["en"]))), "ru": tuple(_variants(str(told["ru"])))},
        tuple(tuple(claim.split()) for claim in claims),
    )


def _variants(template: str) -> Iterator[tuple[Piece, ...]]:
    """The template with and without each of its optional fragments."""
    fragments = OPTIONAL.split(template)
    choices = [(part, "") if place % 2 else (part,) for place, part in enumerate(fragments)]
    for chosen in product(*choices):
        yield tuple(_pieces("".join(chosen)))


def _pieces(text: str) -> Iterator[Piece]:
    at = 0
    for slot in SLOT.finditer(text):
        if slot.start() > at:
            yield text[at : slot.start()]
        yield Slot(slot[1].lower(), slot[2], slot[1][0].isupper())
        at = slot.end()
    if at < len(text):
        yield text[at:]


def _names(variant: Sequence[Piece]) -> set[str]:
    return {piece.name for piece in variant if isinstance(piece, Slot)}


def _joined(values: Sequence[Citation], between: str, begins: bool) -> Iterator[str | Citation]:
    for place, value in enumerate(values):
        if place:
            yield between
        yield _capitalised(value) if begins else value


def _capitalised(value: Citation) -> Citation:
    return value.model_copy(update={"text": value.text[:1].upper() + value.text[1:]})
