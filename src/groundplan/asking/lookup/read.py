"""Reads questions to a knowledge base without a model: finds the entity and the path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from groundplan.asking.lookup.answer_type import find_wanted
from groundplan.asking.lookup.candidates import Candidate, Topic, equals, find_candidates, has_own_type, topics_of
from groundplan.asking.lookup.continuing import Continuation, find_continuation
from groundplan.asking.lookup.follow_up import find_follow_up
from groundplan.asking.lookup.manner import find_manner
from groundplan.asking.lookup.paths import CandidatePath
from groundplan.asking.lookup.saying import called, intent_called, say, type_called
from groundplan.asking.lookup.scan import LookupScan
from groundplan.asking.lookup.vocabulary import LookupWords, load_lookup_words, vocabulary_of
from groundplan.asking.replies import with_readings
from groundplan.contracts.answer import Clarification, Refusal, refused
from groundplan.contracts.knowledge import Conversation, KnowledgeSchema
from groundplan.contracts.reading import Entity, Evidence, Intent, IntentAsked, Reading, Requirement
from groundplan.text.entities import CASED, Mention, Registry
from groundplan.text.periods.find import Found, find_periods
from groundplan.text.words import Word, language_of, normalise, words_of

GENERAL = "general"  # the intent if no path fits: search the documents
LONGEST = 2_000  # characters of a question
UNSURE = 0.4  # the confidence of a document search
MOST_NAMES = 8
Read = Reading | Clarification | Refusal


def read_lookup(
    question: str,
    knowledge: KnowledgeSchema,
    registry: Registry,
    *,
    today: date,
    timezone: str = "UTC",
    context: Conversation | None = None,
) -> Read:
    """Read a question as intents, each with its entity and path; ask for clarification if several fit equally well.

    A question that no path covers gets the intent `general`. `context` is the previous turn, used only for a clear
    follow-up.
    """
    text = normalise(question)
    words = words_of(text)
    if not words:
        return refused("reading/empty", "the question has no words", "ask for something in the knowledge base")
    if len(text) > LONGEST:
        return refused("reading/too-long", f"the question has {len(text)} characters", f"ask in at most {LONGEST}")

    def by_words(asked: str) -> Read:
        return _Lookup(scan_lookup(asked, knowledge, registry, today=today, timezone=timezone), context).read()

    found = by_words(question)
    return with_readings(found, question, by_words) if isinstance(found, Clarification) else found


def scan_lookup(
    question: str, knowledge: KnowledgeSchema, registry: Registry, *, today: date, timezone: str
) -> LookupScan:
    """Match the words of the question with the names and words of the knowledge base."""
    text = normalise(question)
    said, vocabulary, known = words_of(text), vocabulary_of(knowledge), load_lookup_words()
    manner, used = find_manner(text, said, registry.find(text, said), vocabulary.find(said), known)
    words = tuple(word for place, word in enumerate(said) if place not in used)
    mentions, marks = _named(registry.find(text, words), words, known), vocabulary.find(words)
    periods = _outside(find_periods(text, today, timezone), words, mentions)
    return LookupScan(text, words, said, manner, knowledge, registry, vocabulary, known, mentions, marks, periods)


def _named(mentions: Sequence[Mention], words: Sequence[Word], known: LookupWords) -> tuple[Mention, ...]:
    """Mentions, without everyday words that only resemble a name: `where did he go` does not mean the language Go."""
    return tuple(
        m for m in mentions if m.confidence > CASED or m.last - m.first > 1 or words[m.first].plain not in known.small
    )


def _outside(periods: Sequence[Found], words: Sequence[Word], mentions: Sequence[Mention]) -> tuple[Found, ...]:
    """Periods that are not part of a name."""
    names = [(words[mention.first].start, words[mention.last - 1].end) for mention in mentions]
    return tuple(p for p in periods if not any(start < p.end and p.start < end for start, end in names))


@dataclass(frozen=True)
class _Lookup:
    """Reads one question."""

    scan: LookupScan
    context: Conversation | None

    def read(self) -> Read:
        continued = find_continuation(self.scan, self.context)
        if continued:
            return self._continued(continued) if isinstance(continued, Continuation) else continued
        topics = topics_of(self.scan)
        place = find_follow_up(self.scan, self.context)
        if place and self.context:
            about, found = ([Topic(e, *place) for e in told] for told in (self.context.entities, self.context.found))
            return self._about_found(about, found) or self._decide(about, follow_up=True)
        return self._decide(topics, follow_up=False)

    def _about_found(self, about: Sequence[Topic], found: Sequence[Topic]) -> Read | None:
        """What is asked of all that the turn before found, if only that gives the type that the question asks for."""
        own, candidates = find_candidates(self.scan, about), find_candidates(self.scan, found)
        if not candidates or (own and self._gives_what_is_asked(own[0])):
            return None
        best = candidates[0]
        same = [c.topic for c in candidates if [way.hops for way in c.ways] == [way.hops for way in best.ways]]
        if not self._gives_what_is_asked(best) or {topic.entity.type for topic in found} != {best.topic.entity.type}:
            return None
        if len(same) * len(best.ways) < self.scan.knowledge.limits.tool_calls:
            return unexpressed(self.scan) or self._reading(same, best, follow_up=True)
        return self._which(candidates, follow_up=True)

    def _gives_what_is_asked(self, candidate: Candidate) -> bool:
        """True if the path ends at the type that the question names; also if it names none."""
        wanted, _ = find_wanted(self.scan, candidate.marks, candidate.topic.first, candidate.topic.last)
        ends = [self.scan.knowledge.ends(way.hops[-1]) if way.hops else None for way in candidate.ways]
        return not wanted or any(end[1] in wanted for end in ends if end)

    def _continued(self, found: Continuation) -> Reading:
        """The same look-ups of the same entities, from where the answer before ended."""
        ids = {asked.entity for asked in found.asked}
        entities = [entity for entity in (self.context.entities if self.context else ()) if entity.id in ids]
        asked = [required(value, self.scan.whole()) for value in found.asked]
        return made(self.scan, asked, entities, [Intent(name=value.intent) for value in found.asked], follow_up=True)

    def _decide(self, topics: Sequence[Topic], *, follow_up: bool) -> Read:
        candidates = find_candidates(self.scan, topics)
        if not candidates:
            return self._without_a_path(topics, follow_up)
        best, *others = equals(candidates)
        others = [other for other in others if not self._asks_the_same(best, other)]
        return self._which([best, *others], follow_up) if others else self._about(best, follow_up)

    def _about(self, best: Candidate, follow_up: bool) -> Read:
        unread = unexpressed(self.scan)
        if unread:
            return unread
        joined, strange = self._beside(best)
        own = self._reading([best.topic, *joined], best, follow_up)
        return self._about_which(best.topic.entity.name, own, strange) if strange else own

    def _about_which(self, name: str, own: Reading, strange: Sequence[Mention]) -> Clarification:
        """The question names entities of which it can be about one only."""
        offered = {name: own}
        for mention in strange:
            topic = Topic(mention.entity, mention.first, mention.last)
            found = find_candidates(self.scan, [topic])
            if found:
                offered.setdefault(mention.entity.name, self._reading([topic], found[0], own.follow_up))
        names = dict.fromkeys((name, *(mention.entity.name for mention in strange)))
        text = say(self.scan, "about_which", [*names])
        return Clarification(text=text, missing="entity", candidates=tuple(offered), readings=tuple(offered.values()))

    def _which(self, candidates: Sequence[Candidate], follow_up: bool) -> Clarification:
        """A clarification between several readings, which differ by type, or by path if the entity is the same."""
        entities = {candidate.topic.entity.id: candidate.topic.entity for candidate in candidates}
        one = len(entities) == 1
        told: dict[str, Candidate] = {}
        for candidate in candidates:
            path = " and ".join(" / ".join(way.hops) for way in candidate.ways)
            label = path if one else called(self.scan, candidate.topic.entity, entities.values())
            told.setdefault(label, candidate)
        name = candidates[0].topic.entity.name
        read = [(name, self._about(candidate, follow_up)) for name, candidate in [*told.items()][:MOST_NAMES]]
        offered = {name: found for name, found in read if isinstance(found, Reading)}
        return Clarification(
            text=say(self.scan, "path", name, [*told]) if one else say(self.scan, "which", [*told]),
            missing="path" if one else "entity",
            candidates=tuple(offered) or tuple(told)[:MOST_NAMES],
            readings=tuple(offered.values()),
        )

    def _beside(self, best: Candidate) -> tuple[list[Topic], list[Mention]]:
        """Other names in the question: those joined by "and", which are asked the same, and the rest."""
        named = [m for m in self.scan.names if self._is_apart(m, best.topic)]
        joined = [m for m in named if m.entity.type == best.topic.entity.type and self._is_joined(m, best.topic)]
        settled = {place for mention in joined for place in range(mention.first, mention.last)}
        strange = [m for m in named if m.first not in settled and len(self.scan.registry.of_type(m.entity.type, 2)) > 1]
        return [Topic(mention.entity, mention.first, mention.last) for mention in joined], strange

    def _asks_the_same(self, best: Candidate, other: Candidate) -> bool:
        """Whether the question asks the same about another name, joined by "and"."""
        hops = [way.hops for way in best.ways] == [way.hops for way in other.ways]
        apart = [m for m in self.scan.names if m.entity == other.topic.entity and self._is_apart(m, best.topic)]
        return hops and any(self._is_joined(mention, best.topic) for mention in apart)

    def _is_apart(self, mention: Mention, topic: Topic) -> bool:
        return mention.last <= topic.first or mention.first >= topic.last

    def _is_joined(self, mention: Mention, topic: Topic) -> bool:
        first, last = (topic.last, mention.first) if mention.first >= topic.last else (mention.last, topic.first)
        return self.scan.is_joined(first, last)

    def _without_a_path(self, topics: Sequence[Topic], follow_up: bool) -> Read:
        """An intent that needs no entity, a clarification if a name is missing, or else a document search."""
        free = [i for i in self.scan.knowledge.intents if i.about is None and self._says(i.name)]
        if free and not topics:
            asked = [look_up(self.scan, i.name, None, i.path, self.scan.whole()) for i in free]
            return made(self.scan, asked, [], [Intent(name=i.name) for i in free], follow_up)
        known = self._known(topics[0]) if len(topics) == 1 else None
        missing = None if topics else self._missing()
        return known or missing or self._general(topics, follow_up)

    def _known(self, topic: Topic) -> Reading | None:
        """Yes or no of an intent about the only one of a type: does he know it? Its path is walked back from there."""
        if not self.scan.is_polar(topic.entity.id) or unexpressed(self.scan):
            return None
        for intent in self.scan.knowledge.intents:
            ends = self.scan.knowledge.ends(intent.path[-1]) if intent.path else None
            alone = intent.about and len(self.scan.registry.of_type(intent.about, 2)) == 1
            if alone and ends and ends[1] == topic.entity.type and self._says(intent.name):
                back = tuple(_reversed(hop) for hop in reversed(intent.path))
                way = CandidatePath(back[:-1] or back, 0.0)
                name = self._name(topic.entity, way)
                asked = look_up(self.scan, name, topic.entity, way.hops, self.scan.whole())
                return made(self.scan, [asked], [topic.entity], [Intent(name=name)])
        return None

    def _says(self, intent: str) -> bool:
        return any(intent in mark.intents for mark in self.scan.all_marks)

    def _missing(self) -> Clarification | None:
        """A clarification if the question names no entity, or an unknown one."""
        if not any(mark.hops or mark.intents for mark in self.scan.all_marks):
            return None
        for name in self.scan.unknown_names():
            near = self.scan.registry.suggest(name)
            if near:
                text = say(self.scan, "unknown", name, near)
                return Clarification(text=text, missing=name, candidates=near)
        return self._which_one() if self.scan.is_understood else None

    def _which_one(self) -> Clarification | None:
        about = {i.about for i in self.scan.knowledge.intents if i.about and self._says(i.name)}
        names = [name for kind in sorted(about) for name in self.scan.registry.of_type(kind, MOST_NAMES + 1)]
        if not names or len(names) > MOST_NAMES:
            return None
        text = say(self.scan, "unnamed", [type_called(self.scan, kind) for kind in sorted(about)])
        return Clarification(text=text, missing="entity", candidates=tuple(names))

    def _general(self, topics: Sequence[Topic], follow_up: bool) -> Reading:
        """A document search, with the entity only if it is unambiguous."""
        best = max((topic.entity.confidence for topic in topics), default=0.0)
        told = [topic for topic in topics if has_own_type(self.scan, topic)]
        told = told or [topic for topic in topics if topic.entity.confidence == best]
        named = {topic.entity.id: topic.entity for topic in told}
        entity = next(iter(named.values())) if len(named) == 1 else None
        asked = look_up(self.scan, GENERAL, entity, (), self.scan.whole())
        return made(self.scan, [asked], list(named.values()), [Intent(name=GENERAL, confidence=UNSURE)], follow_up)

    def _reading(self, topics: Sequence[Topic], best: Candidate, follow_up: bool) -> Reading:
        asked = [
            look_up(self.scan, self._name(topic.entity, way), topic.entity, way.hops, self._evidence(topic, best))
            for topic in topics
            for way in best.ways
        ]
        sure = round(max(UNSURE, 1 - best.cost / 4), 2)
        intents = dict.fromkeys(self._name(best.topic.entity, way) for way in best.ways)
        return made(
            self.scan,
            asked,
            [topic.entity for topic in topics],
            [Intent(name=name, confidence=min(sure, 1.0)) for name in intents],
            follow_up,
            tuple(self.scan.words[p].text for p in best.unexplained if not any(t.first <= p < t.last for t in topics)),
        )

    def _name(self, entity: Entity, way: CandidatePath) -> str:
        named = (i.name for i in self.scan.knowledge.intents if i.about == entity.type and i.path == way.hops)
        return way.intent or next(named, f"path:{'/'.join(way.hops)}")

    def _evidence(self, topic: Topic, best: Candidate) -> Evidence:
        first = min([topic.first, *(mark.first for mark in best.marks)])
        last = max([topic.last, *(mark.last for mark in best.marks)])
        return self.scan.spoken(first, min(last, len(self.scan.words)))


def _reversed(hop: str) -> str:
    return hop.removeprefix("^") if hop.startswith("^") else f"^{hop}"


def made(
    scan: LookupScan,
    requirements: Sequence[Requirement],
    entities: Sequence[Entity],
    intents: Sequence[Intent],
    follow_up: bool = False,
    unresolved: tuple[str, ...] = (),
) -> Reading:
    return Reading(
        question=scan.text,
        language=scan.manner.language or language_of(scan.text),
        requirements=tuple({one.id: one for one in requirements}.values()),
        intents=tuple(intent.model_copy(update={"called": intent_called(scan, intent.name)}) for intent in intents),
        entities=tuple(entities),
        period=next((found.period for found in scan.periods if found.period), None),
        follow_up=follow_up,
        unresolved=unresolved,
    )


def unexpressed(scan: LookupScan) -> Refusal | None:
    """A refusal for what a path cannot express: negations, what several entities have in common, and periods."""
    names = {place for mention in scan.names for place in range(mention.first, mention.last)}
    said = [word for place, word in enumerate(scan.words) if place not in names]
    negated = next((word.text for word in said if word.plain in scan.known.negating), None)
    if negated:
        problem = f"a look-up cannot exclude anything ({negated!r})"
        return refused("reading/negation", problem, "ask without the exclusion, and compare")
    both = next((word.text for word in said if word.plain in scan.known.together), None)
    if both and len({mention.entity.id for mention in scan.names}) > 1:
        problem = f"a look-up cannot find what several have in common ({both!r})"
        return refused("reading/in-common", problem, "ask about them one by one")
    dated = next((found for found in scan.periods if found.period), None)
    if dated:
        words = scan.text[dated.start : dated.end]
        problem = f"a look-up cannot be limited to {words!r}, because relations have no dates"
        return refused("reading/period", problem, "leave the period out, and look for dates in the answer")
    return None


def look_up(
    scan: LookupScan, intent: str, entity: Entity | None, path: tuple[str, ...], evidence: Evidence
) -> Requirement:
    """A look-up in the manner that the question says."""
    manner, most = scan.manner, scan.knowledge.limits.items
    value = IntentAsked(
        intent=intent,
        entity=entity.id if entity else None,
        path=path,
        style=manner.style,
        limit=min(manner.limit, most) if manner.limit else None,
        polar=intent != GENERAL and scan.is_polar(entity.id if entity else None),
    )
    return required(value, evidence, manner.evidence)


def required(value: IntentAsked, evidence: Evidence, also: tuple[Evidence, ...] = ()) -> Requirement:
    id_ = (f"intent:{value.intent}" + (f"@{value.entity}" if value.entity else ""))[:256]
    return Requirement(id=id_, value=value, evidence=evidence, also=also)
