"""What a drafted text may say of listed facts: their names by slots, and words of the question around them.

Every word beside the slots is one of the question, of the knowledge base's own words for what was asked, or a word that
only says that something is listed. So a draft cannot name, count, deny, date or judge anything that is no fact.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from groundplan.answering.drafting.proving import sentences_of
from groundplan.answering.verifying.artefacts import find_artefacts
from groundplan.answering.writing.write import is_affirmed
from groundplan.contracts.answer import Answer, Citation
from groundplan.contracts.contract import Language
from groundplan.contracts.facts import Facts
from groundplan.contracts.plan import CheckedPlan
from groundplan.contracts.reading import Reading
from groundplan.text.plain_yaml import load_yaml
from groundplan.text.stems import keys_of, lower
from groundplan.text.words import words_of

MOST_SLOTS, MOST_SENTENCES, LONGEST = 60, 3, 500
SHORTEST_COPY = 3  # letters of a value that is taken for its slot
SLOT = re.compile(r"\{(\w+)\}")
PLACE = re.compile(r"facts\.(?:groups\.(\d+)\.)?(items\.\d+)\.(title|text|value)|facts\.groups\.(\d+)\.title")
SIGNS = re.compile(r"[^\w\s,.;:()–—\-«»\"!?'’]|[\d_]")
DENIES = frozenset(
    {
        *("no", "not", "none", "nor", "never", "without", "neither", "except", "only"),
        *("но", "не", "нет", "ни", "без", "кроме", "лишь", "только", "никогда"),
    }
)
YES = {"en": "yes", "ru": "да"}


@dataclass(frozen=True)
class FactSlot:
    id: str
    cite: Citation
    group: str  # the number of its group; empty if it is in none
    item: str  # its item, such as `items.3`; empty for the title of a group or a count
    part: str  # `title`, `text`, `value`, `group` or `count`


@dataclass(frozen=True)
class FactOffer:
    slots: Mapping[str, FactSlot]
    known: frozenset[str]  # the keys of words that a sentence may have
    names: frozenset[str]  # words with a capital that it may have
    language: Language
    affirms: bool  # the answer is yes
    several: bool  # there are several groups: each item is said after the title of its own


def offer_facts(
    plan: CheckedPlan, facts: Facts, usual: Answer, reading: Reading, words: Iterable[str], language: Language
) -> FactOffer | None:
    """The listed facts of the usual text as slots; None if it is about a table, or lists nothing or too much."""
    if facts.tables or facts.charts or not 0 < len(usual.citations) <= MOST_SLOTS:
        return None
    slots = {slot.id: slot for slot in _slots(usual.citations)}
    if not any(slot.part == "title" for slot in slots.values()):
        return None
    said = [word.text for word in words_of(reading.question) if lower(word.text) not in DENIES]
    said = [text for text in said if text not in reading.unresolved]
    several = len({slot.group for slot in slots.values()}) > 1
    named = {word.text for e in reading.entities for name in (e.name, *e.aliases) for word in words_of(name)}
    known = {key for text in (*said, *words, *neutral(language)) for key in keys_of(text)}
    return FactOffer(
        slots=slots,
        known=frozenset(known | {key for text in named for key in keys_of(text)}),
        names=frozenset() if several else frozenset(key for text in (*said, *named) for key in keys_of(text)),
        language=language,
        affirms=is_affirmed(plan, facts),
        several=several,
    )


@cache
def neutral(language: Language) -> tuple[str, ...]:
    told = load_yaml(files(__package__).joinpath("item_words.yaml").read_text(encoding="utf-8"))
    return tuple(told[language].split())


def prove_facts(written: Sequence[str], offer: FactOffer) -> tuple[list[str], list[str]]:
    """The sentences with slots in place of copied values, and what is wrong with them."""
    sentences = sentences_of([_slotted(text, offer) for text in written])
    if not 1 <= len(sentences) <= MOST_SENTENCES or any(len(sentence) > LONGEST for sentence in sentences):
        return sentences, [f"write between one and {MOST_SENTENCES} short sentences"]
    wrong = [f"{problem} (in: {sentence})" for sentence in sentences for problem in _problems(sentence, offer)]
    wrong += _misplaced(sentences, offer)
    first = lower(next(iter(re.findall(r"\w+", sentences[0])), ""))
    if offer.affirms != (first == YES[offer.language]):
        wrong.append(f"begin with {YES[offer.language]!r}" if offer.affirms else "the facts answer no yes or no")
    return sentences, wrong


def left_out(sentences: Sequence[str], offer: FactOffer) -> bool:
    """True if a listed name or a count is not said: then the list follows."""
    said = {name for sentence in sentences for name in SLOT.findall(sentence)}
    return any(slot.part in ("title", "count") and slot.id not in said for slot in offer.slots.values())


def _slots(citations: Sequence[Citation]) -> Iterator[FactSlot]:
    for number, cite in enumerate(citations, 1):
        found = PLACE.fullmatch(cite.fact)
        if found is None:
            yield FactSlot(f"v{number}", cite, "", "", "count")
        elif found[4]:
            yield FactSlot(f"g{number}", cite, found[4], "", "group")
        else:
            letter = {"title": "n", "text": "t", "value": "v"}[found[3]]
            item = f"{found[1] or ''}/{found[2]}"
            yield FactSlot(f"{letter}{number}", cite, found[1] or "", item, found[3])


def _slotted(text: str, offer: FactOffer) -> str:
    """The text with slots in place of values that the model copied, the longest first."""
    copies = {slot.cite.text.rstrip("."): slot.id for slot in reversed([*offer.slots.values()])}
    long = sorted((copy for copy in copies if len(copy) >= SHORTEST_COPY), key=len, reverse=True)
    if not long:
        return text
    pattern = re.compile(rf"\{{\w+\}}|(?<!\w)(?:{'|'.join(map(re.escape, long))})(?!\w)")
    return pattern.sub(lambda found: found[0] if found[0] in _braced(offer) else _slot(found[0], copies), text)


def _braced(offer: FactOffer) -> frozenset[str]:
    return frozenset(f"{{{name}}}" for name in offer.slots)


def _slot(text: str, copies: Mapping[str, str]) -> str:
    return f"{{{copies[text]}}}" if text in copies else text


def _problems(sentence: str, offer: FactOffer) -> Iterator[str]:
    missing = [name for name in SLOT.findall(sentence) if name not in offer.slots]
    yield from (f"there is no slot {{{name}}}" for name in missing)
    if not SLOT.search(sentence):
        yield "the sentence has no slot"
    around = SLOT.sub(" ", sentence)
    yield from (f"{sign!r} cannot be checked: say numbers and names with slots" for sign in SIGNS.findall(around))
    yield from (f"the text has {what}: {words!r}" for what, words in find_artefacts(around))
    for place, word in enumerate(words_of(around)):
        begins = place == 0 and sentence.lstrip('«"(').startswith(word.text)
        if lower(word.text) == YES[offer.language] and offer.affirms and begins:
            continue
        named = word.text != lower(word.text) and not begins
        if lower(word.text) in DENIES or keys_of(word.text).isdisjoint(offer.names if named else offer.known):
            yield f"{word.text!r} is neither a fact nor a word of the question: leave it out, or say it with a slot"


def _misplaced(sentences: Sequence[str], offer: FactOffer) -> Iterator[str]:
    """Texts and values stand after the name of their own item, items after the title of their own group."""
    group = ""
    for sentence in sentences:
        item = ""
        for slot in (offer.slots[name] for name in SLOT.findall(sentence) if name in offer.slots):
            if slot.part == "group":
                group, item = slot.group, ""
            elif slot.part == "title":
                item = slot.item
                if offer.several and slot.group != group:
                    yield f"{{{slot.id}}} stands after the title of its own group"
            elif slot.part in ("text", "value") and slot.item != item:
                yield f"{{{slot.id}}} stands after the name that it belongs to"
