"""Finds and removes artefacts: ids, confidences, bracket references, advice to ask others, unasked negatives."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

INNER: Mapping[str, re.Pattern[str]] = {
    "a confidence": re.compile(
        r"\s*[(\[]?\b(?:confidence|уверенность|достоверность|конфиденциальность)\s*[:=]\s*[\w.,]+\s*%?[)\]]?", re.I
    ),
    "a bracket reference": re.compile(r"^\s*\[\d+\]\s*[–-]\s*|\s*\[\d+(?:\s*[,;–-]\s*\d+)*\]"),
    "an internal id": re.compile(r"\s*\(?\b(?!https?:|mailto:)[a-z][a-z_]+:[a-z0-9_][\w./-]*\)?"),
}
"""Artefacts that can be removed from a good sentence."""

SENTENCES: Mapping[str, re.Pattern[str]] = {
    "a confidence": re.compile(r"\bconfiden(?:ce|t)\b|\bуверенност|\bдостоверност|\bконфиденциальност", re.I),
    "advice to ask somebody else": re.compile(
        r"\b(?:ask|contact|consult|check with|reach out to|clarify with)\b"
        r"|\b(?:рекоменду|совету|следует|лучше|стоит)\w*\s+(?:\w+\s+)?(?:уточни|спроси|обрати|связа)"
        r"|\b(?:уточните|спросите|обратитесь|свяжитесь)\b",
        re.I,
    ),
    "a negative nobody asked for": re.compile(
        r"\bno (?:other|further|additional|specific|explicit)\b|\b(?:was|were) not (?:found|mentioned|specified)\b"
        r"|\b(?:других|иных|конкретных|дополнительных|прямых)\s+(?:\w+\s+)?не\s"
        r"|\bне\s+(?:найден|упомин|обнаруж)\w*\s+(?:других|иных|конкретных|дополнительных)",
        re.I,
    ),
}


def find_artefacts(text: str) -> Iterator[tuple[str, str]]:
    """The kind of each artefact, and its words."""
    for what, pattern in (*INNER.items(), *SENTENCES.items()):
        for match in pattern.finditer(text):
            yield what, match[0].strip()


IMAGE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)|<([a-z][a-z0-9+.-]*:[^>]*)>", re.I)
MAIL = r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
ADDRESS = re.compile(rf"\b(?:[a-z][a-z0-9+.-]*://|www\.)\S+|{MAIL}", re.I)
CONTACT = re.compile(rf"(?:[\w -]{{1,40}}:\s*)?(?![^\s]*[()\[\]<>])(?:{ADDRESS.pattern})", re.I)
"""A fact that is a URL or an email address, with or without a label: `Site: https://…`."""
FIELD = re.compile(r"[\w -]{1,40}: ")
MAIL_FIELD = re.compile(rf"{FIELD.pattern}{MAIL}")
"""A field of a row, and one that is an email address: `email: ann@lib.org`."""


def without_artefacts(text: str) -> str:
    """The text of a fact without ids, confidences, references and links, unless the fact itself is a link."""
    text = _without_links(text)
    for pattern in INNER.values():
        text = pattern.sub("", text)
    return " ".join(text.split())


def _without_links(text: str) -> str:
    """Text from a document must not become a clickable link or an image that loads."""
    if CONTACT.fullmatch(text.strip()):
        return text
    if FIELD.match(text):
        return ", ".join(part if MAIL_FIELD.fullmatch(part) else _unlinked(part) for part in text.split(", "))
    return _unlinked(text)


def _unlinked(text: str) -> str:
    return ADDRESS.sub("", LINK.sub(r"\1", IMAGE.sub(r"\1", text)))
