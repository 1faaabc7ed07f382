"""A question matched with a knowledge base: its words, the entities it mentions, and the meaning of its other words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from groundplan.asking.lookup.manner import Manner
from groundplan.asking.lookup.vocabulary import LookupWords, Mark, Vocabulary
from groundplan.contracts.knowledge import KnowledgeSchema
from groundplan.contracts.reading import Evidence
from groundplan.text.entities import WORDED, Mention, Registry
from groundplan.text.periods.find import Found
from groundplan.text.stems import keys_of
from groundplan.text.words import Word, language_of


@dataclass(frozen=True)
class LookupScan:
    text: str
    words: tuple[Word, ...]  # without those that say how the answer is shown
    said: tuple[Word, ...]  # all of them
    manner: Manner
    knowledge: KnowledgeSchema
    registry: Registry
    vocabulary: Vocabulary
    known: LookupWords
    mentions: tuple[Mention, ...]
    all_marks: tuple[Mark, ...]
    periods: tuple[Found, ...] = ()

    def marks(self, first: int, last: int) -> tuple[Mark, ...]:
        """The marks outside an entity's name."""
        after = self.vocabulary.find(self.words[last:])
        moved = (replace(mark, first=mark.first + last, last=mark.last + last) for mark in after)
        return (*self.vocabulary.find(self.words[:first]), *moved)

    @cached_property
    def names(self) -> list[Mention]:
        return [mention for mention in self.mentions if not self._is_ordinary(mention)]

    @cached_property
    def named_places(self) -> frozenset[int]:
        return frozenset(place for mention in self.mentions for place in range(mention.first, mention.last))

    @property
    def is_understood(self) -> bool:
        """Whether more words of the question are explained than not, without any entity."""
        return len(self.unexplained(0, 0, self.all_marks)) < len(self.all_marks)

    def is_polar(self, entity: str | None) -> bool:
        """True if the question is answered by yes or no, and names nothing but this entity or an only one of a type."""
        asks = self.text.endswith("?") and not any(word.plain in self.known.wh for word in self.said)
        others = {m.entity.id: m.entity.type for m in self.names if m.entity.id != entity}
        subject = bool(others) or any(word.plain in self.known.pronouns for word in self.said)
        russian = language_of(self.text) == "ru" and (subject or any(word.plain == "ли" for word in self.said))
        opens = russian or (bool(self.said) and self.said[0].plain in self.known.polar)
        alone = all(len(self.registry.of_type(kind, 2)) == 1 for kind in others.values())
        return asks and opens and entity is not None and alone and not any(self.unknown_names())

    def unexplained(self, first: int, last: int, marks: Sequence[Mark]) -> list[int]:
        """The words that are not part of the entity or a mark, and are not common words."""
        outside = (place for place in range(len(self.words)) if not first <= place < last)
        return [place for place in outside if not self._is_plain(place, marks)]

    def shares(self, first: int, last: int) -> bool:
        """Whether "same", "also" or a similar word occurs outside the entity's name."""
        outside = (*self.words[:first], *self.words[last:])
        return any(not keys_of(word.text).isdisjoint(self.known.sharing) for word in outside)

    def is_joined(self, first: int, last: int) -> bool:
        """Whether there is "and" or a comma between, and otherwise only small words, types and other names."""
        between = [place for place in range(first, last) if place not in self.named_places]
        spoken = self.text[self.words[first - 1].end : self.words[last].start]
        joins = "," in spoken or any(self.words[place].lower in self.known.joining for place in between)
        types = [mark for mark in self.all_marks if not mark.hops and not mark.intents]
        asked = {place for mark in self.all_marks if mark not in types for place in range(mark.first, mark.last)}
        return joins and all(self._is_plain(place, types) and place not in asked for place in between)

    def unknown_names(self) -> Iterator[str]:
        """Unexplained runs of words that are written like names."""
        run: list[str] = []
        unknown = [place for place in self.unexplained(0, 0, self.all_marks) if place not in self.named_places]
        for place in (*unknown, -1):
            if run and (place < 0 or self.words[place - 1].text != run[-1] or not self._is_name(place)):
                yield " ".join(run)
                run = []
            if place >= 0 and self._is_name(place):
                run.append(self.words[place].text)

    def spoken(self, first: int, last: int) -> Evidence:
        start = self.words[first].start
        return Evidence(text=self.text[start : self.words[last - 1].end][:500], start=start)

    def whole(self) -> Evidence:
        """The whole question."""
        start = self.said[0].start
        return Evidence(text=self.text[start : self.said[-1].end][:500], start=start)

    def is_plain(self, place: int) -> bool:
        """Whether a word means something here, or is a common one."""
        return self._is_plain(place, self.all_marks)

    def is_named(self, mention: Mention) -> bool:
        """Whether it is written like a name, with a capital or a digit."""
        return any(self._is_name(place) for place in range(mention.first, mention.last))

    def _is_ordinary(self, mention: Mention) -> bool:
        """Whether its words have another meaning and are not written like the name."""
        plain = all(self._is_plain(place, self.all_marks) for place in range(mention.first, mention.last))
        return plain and not (mention.confidence >= WORDED and self.is_named(mention))

    def _is_name(self, place: int) -> bool:
        """Whether the word has a digit, or a capital that is not due to the start of a sentence."""
        word = self.words[place].text
        return any(c.isdigit() for c in word) or (word != word.lower() and (place > 0 or word[1:] != word[1:].lower()))

    def _is_plain(self, place: int, marks: Sequence[Mark]) -> bool:
        word = self.words[place]
        if any(mark.speaks_of(place) for mark in marks) or word.plain in self.known.small:
            return True
        if any(found.period and found.start <= word.start < found.end for found in self.periods):
            return True
        return not keys_of(word.text).isdisjoint(self.known.fillers)
