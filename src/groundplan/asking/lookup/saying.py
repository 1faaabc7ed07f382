"""What a reader of look-ups says to the person who asked, in the language of the question."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from groundplan.asking.lookup.scan import LookupScan
from groundplan.contracts.contract import Language
from groundplan.contracts.reading import Entity
from groundplan.text.words import language_of

TEXTS: dict[Language, dict[str, str]] = {
    "en": {
        "or": " or ",
        "and": " and ",
        "which": "Several fit; which is meant: {}?",
        "did_you_mean": "There is no such name here; did you mean {}?",
        "unknown": "There is no {!r} here; did you mean {}?",
        "about_which": "The question names {}; which of them is it about?",
        "path": "What about {} is asked for: {}?",
        "unnamed": "Which {}? The question does not name one.",
        "assumed": "{} is meant",
        "general": "a search of the documents",
    },
    "ru": {
        "or": " или ",
        "and": " и ",
        "which": "Подходит несколько. Что имеется в виду: {}?",
        "did_you_mean": "Такого названия здесь нет. Имеется в виду {}?",
        "unknown": "Названия «{}» здесь нет. Имеется в виду {}?",
        "about_which": "В вопросе названы {}. О чём он?",
        "path": "Что нужно узнать про {}: {}?",
        "unnamed": "О чём вопрос ({})? Название в нём не указано.",
        "assumed": "имеется в виду {}",
        "general": "поиск по документам",
    },
}


def language_in(scan: LookupScan) -> Language:
    """The language that the question asks for, or is in."""
    return "ru" if (scan.manner.language or language_of(scan.text)) == "ru" else "en"


def say(scan: LookupScan, key: str, *told: str | Sequence[str]) -> str:
    """The text in the language of the question; several names are joined by "or"."""
    texts = TEXTS[language_in(scan)]
    joint = texts["and" if key == "about_which" else "or"]
    return texts[key].format(*(one if isinstance(one, str) else joint.join(one) for one in told))


def called(scan: LookupScan, entity: Entity, among: Collection[Entity]) -> str:
    """The name with its type; with the id if another of them is called the same."""
    label = f"{entity.name} ({type_called(scan, entity.type)})"
    same = [one for one in among if (one.name, one.type) == (entity.name, entity.type)]
    return label if len(same) < 2 else f"{entity.name} ({entity.type} {entity.id})"


def type_called(scan: LookupScan, name: str) -> str:
    """The type in the words of the knowledge base."""
    kind = next((kind for kind in scan.knowledge.types if kind.name == name), None)
    return next(iter(kind.words.get(language_in(scan), ())), name) if kind else name


def intent_called(scan: LookupScan, name: str) -> str:
    """The title of an intent, or the first of its words; empty for a path that has no name."""
    language = language_in(scan)
    intent = next((one for one in scan.knowledge.intents if one.name == name), None)
    if intent is None:
        return TEXTS[language].get(name, "")
    return intent.title.get(language) or next(iter(intent.words.get(language, ())), "")
