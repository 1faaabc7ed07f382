"""Makes false drafts from true ones: each change alters one claim, by rules that do not know the verifier."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import permutations
from typing import NamedTuple

from groundplan.answering.drafting.slots import Slot
from groundplan.contracts.contract import Language
from tests.answering.drafted import Asked


class Altered(NamedTuple):
    how: str
    asked: Asked
    text: str
    true: str


SLOT = re.compile(r"\{(\w+)\}")
OPPOSITES: dict[Language, list[tuple[str, str]]] = {
    "en": [
        ("highest", "lowest"),
        ("largest", "smallest"),
        ("most", "least"),
        ("top", "bottom"),
        ("rose", "fell"),
        ("grew", "dropped"),
        ("increased", "decreased"),
        ("increase", "decrease"),
        ("up", "down"),
        ("more", "less"),
        ("higher", "lower"),
        ("ahead of", "behind"),
        ("first", "last"),
        ("double", "half"),
        ("twice", "half"),
        ("doubled", "halved"),
        ("unchanged", "up"),
        ("peaked", "was lowest"),
        ("majority", "minority"),
        ("more than half", "less than half"),
    ],
    "ru": [
        ("больше всего", "меньше всего"),
        ("наибольшая", "наименьшая"),
        ("выше", "ниже"),
        ("выросла", "упала"),
        ("самая высокая", "самая низкая"),
        ("максимум", "минимум"),
        ("рост", "падение"),
        ("увеличилась", "снизилась"),
    ],
}
FUNCTIONS = {
    "en": [("total", "average"), ("average", "total"), ("average", "median"), ("median", "average"), ("mean", "total")],
    "ru": [("общая", "средняя"), ("средняя", "общая"), ("средняя", "медианная")],
}
LABELS = {
    "en": [
        ("revenue", "units"),
        ("revenue", "cost"),
        ("cost", "revenue"),
        ("units", "revenue"),
        ("sales", "customers"),
        ("visits", "sales"),
        ("region", "channel"),
    ],
    "ru": [("выручка", "стоимость"), ("выручки", "прибыли"), ("продаж", "клиентов")],
}
BEFORE_END = {
    "en": [
        "because of strong demand",
        "due to {0}",
        "in online shops",
        "for new customers",
        "excluding returns",
        "by 5",
        "as expected",
        "in 2023",
        "last week",
        "three times over",
        "and will grow further",
    ],
    "ru": ["из-за высокого спроса", "благодаря {0}", "для новых клиентов", "без учёта", "в 2023 году", "и будет расти"],
}
NEGATED = {
    "en": re.compile(r"\b(was|is|were|are|has|had)\b"),
    "ru": re.compile(r"\b(составила|выросла|принёс|упала|была)\b"),
}
HEDGED = {"en": ["about", "nearly", "over", "at least", "five times", "not"], "ru": ["около", "почти", "более", "не"]}
CONDITION = re.compile(
    r"(?:,? ?\b(?:in|for|of|during|the|where|among rows|за|в|в регионе|регион)\b ?)*"
    r"\{c\d+\}(?: region| году| год| as a whole)?,?",
    re.I,
)


def altered(asked: Asked, text: str) -> Iterator[Altered]:
    """Every way to make the draft false."""
    found: list[tuple[str, Iterator[str]]] = [
        ("another number", _other(asked, text, "number", _is_another_number)),
        ("another name", _other(asked, text, "name", lambda old, new: old.column == new.column)),
        ("a comparison turned round", _words(text, _both(OPPOSITES[asked.language]))),
        ("another function", _words(text, FUNCTIONS[asked.language])),
        ("another label", _words(text, LABELS[asked.language])),
        ("a condition dropped", _dropped(text)),
        ("a condition added", _added_name(asked, text)),
        ("words added at the end", _ended(asked, text)),
        ("a negation", _negated(text, asked.language)),
        ("a hedge", _put(text, "v", [f"{word} {{}}" for word in HEDGED[asked.language]])),
        ("an invented number", _put(text, "vc", ["7", "five", "2023", "12%"])),
        ("a literal name", _put(text, "n", ["Atlantis"])),
    ]
    for how, texts in found:
        for other in texts:
            if _differs(asked, text, other):
                yield Altered(how, asked, other, text)


def filled(asked: Asked, text: str) -> str:
    return SLOT.sub(lambda found: asked.offer.slots[found[1]].cite.text, text)


def _differs(asked: Asked, true: str, other: str) -> bool:
    """Whether the reader sees another claim."""
    return " ".join(filled(asked, true).split()).casefold() != " ".join(filled(asked, other).split()).casefold()


def _other(asked: Asked, text: str, kind: str, fits: Callable[[Slot, Slot], bool]) -> Iterator[str]:
    """One slot replaced by another: a name only if a number of its row stands in the text, so that it becomes false."""
    used = [asked.offer.slots[found[1]] for found in SLOT.finditer(text)]
    for found in SLOT.finditer(text):
        old = asked.offer.slots[found[1]]
        if old.kind != kind or (kind == "name" and (used.count(old) > 1 or not _has_number(old, used))):
            continue
        for new in asked.offer.slots.values():
            shown = {slot.cite.text for slot in used}
            if (
                new.kind == kind
                and new.cite.text != old.cite.text
                and fits(old, new)
                and (kind == "number" or new.cite.text not in shown)
            ):
                yield text[: found.start()] + f"{{{new.id}}}" + text[found.end() :]


def _is_another_number(old: Slot, new: Slot) -> bool:
    return (old.sort, {*old.at}) == (new.sort, {*new.at})


def _has_number(name: Slot, used: list[Slot]) -> bool:
    return any(slot.kind == "number" and slot.at.get(name.column, ...) == name.at[name.column] for slot in used)


def _words(text: str, pairs: list[tuple[str, str]]) -> Iterator[str]:
    for old, new in pairs:
        for found in re.finditer(rf"\b{old}\b", text, re.IGNORECASE):
            word = new.capitalize() if found[0][0].isupper() else new
            yield text[: found.start()] + word + text[found.end() :]


def _both(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [*pairs, *((new, old) for old, new in pairs)]


def _negated(text: str, language: Language) -> Iterator[str]:
    for verb in NEGATED[language].finditer(text):
        said = f"{verb[0]} not" if language == "en" else f"не {verb[0]}"
        yield text[: verb.start()] + said + text[verb.end() :]


def _put(text: str, letters: str, words: list[str]) -> Iterator[str]:
    """Words in place of a slot, or around it."""
    for found in SLOT.finditer(text):
        for word in words if found[1][0] in letters else ():
            yield text[: found.start()] + word.replace("{}", found[0]) + text[found.end() :]


def _dropped(text: str) -> Iterator[str]:
    for found in CONDITION.finditer(text):
        rest = (text[: found.start()] + " " + text[found.end() :]).strip()
        yield rest[:1].upper() + rest[1:] if rest[:1] != "{" else rest


def _added_name(asked: Asked, text: str) -> Iterator[str]:
    """A name put behind a number that is not of its row."""
    word = "in" if asked.language == "en" else "в"
    for found in SLOT.finditer(text):
        number = asked.offer.slots[found[1]]
        for name in asked.offer.slots.values():
            if (
                number.kind == "number"
                and name.kind == "name"
                and number.span is None
                and number.at.get(name.column, ...) != name.at[name.column]
            ):
                yield f"{text[: found.end()]} {word} {{{name.id}}}{text[found.end() :]}"


def _ended(asked: Asked, text: str) -> Iterator[str]:
    slot = next(iter(asked.offer.slots))
    for words in BEFORE_END[asked.language]:
        yield f"{text.removesuffix('.')} {words.format('{' + slot + '}')}."


def swapped(asked: Asked, text: str) -> Iterator[str]:
    """Two numbers, or two names, in each other's place."""
    for one, two in permutations(SLOT.finditer(text), 2):
        if one.start() < two.start() and one[1][0] == two[1][0] == "v":
            slots = asked.offer.slots[one[1]], asked.offer.slots[two[1]]
            if slots[0].cite.text != slots[1].cite.text:
                yield text[: one.start()] + two[0] + text[one.end() : two.start()] + one[0] + text[two.end() :]
