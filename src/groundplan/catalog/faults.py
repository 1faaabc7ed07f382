"""Validation errors as messages that say what to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pydantic import ValidationError
from rapidfuzz import fuzz, process

from groundplan.text.located_yaml import Place


def faults(error: ValidationError, subject: str, known: Iterable[str]) -> Iterator[tuple[Place, str]]:
    """The place and message of every error; `known` are the valid keys, for hints."""
    for detail in error.errors(include_url=False):
        place = detail["loc"]
        owner = ": ".join(filter(None, (subject, _dotted(place[:-1]))))
        match detail["type"]:
            case "missing":
                yield place, f"{owner} has no {place[-1]!r}; add one"
            case "extra_forbidden":
                hint = suggest(str(place[-1]), known, "remove it")
                yield place, f"{owner} has an unknown key {place[-1]!r}; {hint}"
            case _:
                message = detail["msg"].removeprefix("Value error, ")
                yield place, f"{subject}: {_dotted(place)}: {message[0].lower()}{message[1:]}; correct it"


def suggest(name: str, known: Iterable[str], otherwise: str) -> str:
    """A hint with the most similar known name."""
    near = process.extractOne(name[:128], list(known), scorer=fuzz.ratio, score_cutoff=65)
    return f"did you mean {near[0]!r}?" if near else otherwise


def _dotted(place: Place) -> str:
    return ".".join(str(part) for part in place)
