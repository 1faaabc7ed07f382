"""Holds a model's graph against the words of the task: which part each node is for, and what contradicts the words.

Only what code knows for certain is a fault: a part that no node is for, a change that no words ask for, a value that is
lost or that nobody said, a condition that the words say otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from groundplan.asking.tasks.conditions import ADDRESS, find_conditions
from groundplan.asking.tasks.fill import Made, choices_of, is_no_address, reaches_nobody
from groundplan.asking.tasks.graph_conditions import implies
from groundplan.asking.tasks.graph_drawing import Drawing, texts_in
from groundplan.asking.tasks.graph_parts import CHOOSE, WORK, WRITE, GraphPart
from groundplan.asking.tasks.read import load_task_words
from groundplan.asking.tasks.task_words import QUOTED, spoken, stems
from groundplan.asking.tasks.values import values_in
from groundplan.contracts.contract import thaw
from groundplan.contracts.reading import Constraint, Goal
from groundplan.contracts.references import read_join, references
from groundplan.contracts.said import is_said

SHARED = 0.5  # of the words of a quote that is not literal
SHOWN = 80  # characters of a value in a fault
_PIECES = re.compile(r"\{\w+\}")
_IN_CONDITIONS = ("name", "number", "quoted", "date", "code")


@dataclass(frozen=True)
class GraphCheck:
    """The requirements that each node and router is for, and the faults."""

    served: Mapping[str, Sequence[str]]
    faults: tuple[str, ...]


def check_graph(drawing: Drawing) -> GraphCheck:
    claims = _claims(drawing)
    faults = [
        *_unserved(drawing, claims),
        *_unsaid(drawing),
        *_lost(drawing),
        *_too_often(drawing, claims),
        *_left_out(drawing, claims),
        *_reaching_nobody(drawing),
        *_otherwise_conditions(drawing, claims),
    ]
    return GraphCheck(_served(drawing, claims), tuple(dict.fromkeys(faults)))


def _claims(drawing: Drawing) -> dict[str, list[GraphPart]]:
    """The parts that each step is for: those that its words are in, or those that code can find for it."""
    claims: dict[str, list[GraphPart]] = {}
    for id_, made in drawing.made.items():
        parts = [*_quoted(drawing, drawing.words[id_])] or [*_found(drawing, made)]
        if made.tool.effect == "write":
            parts = [part for part in parts if part.may_be_done_by(made.tool)]
        claims[id_] = parts
    return claims


def _quoted(drawing: Drawing, words: str) -> Iterator[GraphPart]:
    """The parts that a quote of the task overlaps; of one that is not literal, those that have most of its words."""
    question, quote = drawing.offer.question.lower(), " ".join(words.lower().split()).strip(" .,;:!?")
    start = question.find(quote) if quote else -1
    wanted = {*stems(quote)}
    for part in drawing.offer.parts if quote else ():
        begin = part.requirement.start or 0
        overlaps = start >= 0 and begin < start + len(quote) and start < begin + len(part.text)
        if overlaps or (start < 0 and len(wanted & {*stems(part.text)}) >= SHARED * len(wanted)):
            yield part


def _found(drawing: Drawing, made: Made) -> Iterator[GraphPart]:
    """The parts for which the search finds the tool; for a tool that reads, all if there is none."""
    goals = [part for part in drawing.offer.parts if isinstance(part.value, Goal)]
    offered = [part for part in goals if made.tool in part.offered]
    if made.tool.effect == "write":
        texts = [*texts_in(thaw(made.step.params))]
        own = [part for part in offered if part.values and all(_is_told(one.text, texts) for one in part.values)]
        yield from own or offered
    else:
        yield from offered or goals


def _served(drawing: Drawing, claims: Mapping[str, Sequence[GraphPart]]) -> dict[str, list[str]]:
    """With what each step is for indirectly: the parts of the steps that take its facts or wait for its condition."""
    served = {id_: [part.requirement.id for part in parts] for id_, parts in claims.items()}
    _serve_unclaimed(drawing, claims, served)
    _serve_routers(drawing, claims, served)
    for id_ in reversed(drawing.order):
        for before in drawing.before(id_) if id_ in drawing.made else ():
            if before in drawing.made and drawing.made[before].tool.effect == "read":
                served[before] = [*dict.fromkeys((*served[before], *served[id_]))]
    return served


def _serve_unclaimed(drawing: Drawing, claims: Mapping[str, Sequence[GraphPart]], served: dict[str, list[str]]) -> None:
    """A part that no step claims, and that changes nothing, is served by a step that shares one of its values."""
    for part in drawing.offer.parts:
        if not any(part in parts for parts in claims.values()) and not _has_changes(drawing, claims, part):
            reading = [id_ for id_, made in drawing.made.items() if made.tool.effect == "read"]
            near = next((id_ for id_ in reading if _shares(drawing.made[id_], part)), next(iter(reading), None))
            served.get(near or "", []).append(part.requirement.id)


def _serve_routers(drawing: Drawing, claims: Mapping[str, Sequence[GraphPart]], served: dict[str, list[str]]) -> None:
    """A router is for what its branches do, and so are the steps whose facts its conditions look at."""
    for router, branches in drawing.branches.items():
        goals = [part for branch in branches for target in branch.targets for part in claims.get(target, ())]
        whens = [part.value.when for part in goals if part.value.when]
        quoted = [part.requirement.id for part in _quoted(drawing, drawing.words[router])]
        served[router] = [*dict.fromkeys((*whens, *(part.requirement.id for part in goals), *quoted))]
        for step in (step for branch in branches if branch.condition for step in branch.condition.steps):
            served[step] = [*dict.fromkeys((*served.get(step, ()), *served[router]))]


def _unserved(drawing: Drawing, claims: Mapping[str, Sequence[GraphPart]]) -> Iterator[str]:
    for id_, made in drawing.made.items():
        if made.tool.effect == "write" and not claims[id_]:
            words = drawing.words[id_]
            yield f"node {id_!r} changes something that the task does not ask for" + (f" in {words!r}" if words else "")
        elif not claims[id_] and not made.step.params:
            yield f"the task does not say {drawing.words[id_]!r}, the words of node {id_!r}; quote it"
    for part in drawing.offer.parts:
        if not isinstance(part.value, Goal):
            continue
        doing = [id_ for id_, parts in claims.items() if part in parts]
        acting = [id_ for id_ in doing if drawing.made[id_].tool.effect == "write"]
        if part.needs_effect and not acting:
            names = " or ".join(tool.name for tool in part.acting)
            yield f"no node does {part.text[:SHOWN]!r}; " + (
                f"it takes {names}" if names else "and no tool here does it"
            )
        elif not doing and values_in(part.text) and not any(_shares(made, part) for made in drawing.made.values()):
            yield f"no node is for {part.text[:SHOWN]!r}"


def _shares(made: Made, part: GraphPart) -> bool:
    """Whether the step has one of the values that the part says."""
    told = [*texts_in(thaw(made.step.params))]
    return any(_is_told(str(said), told) for one in values_in(part.text) for said in (one.text, one.value))


def _has_changes(drawing: Drawing, claims: Mapping[str, Sequence[GraphPart]], condition: GraphPart) -> bool:
    """Whether a change waits for this condition, which then needs a router of its own; or a part is a change."""
    waiting = [id_ for id_, parts in claims.items() if any(p.value.when == condition.requirement.id for p in parts)]
    return condition.needs_effect or any(drawing.made[id_].tool.effect == "write" for id_ in waiting)


def _unsaid(drawing: Drawing) -> Iterator[str]:
    """Values that the task does not say, in changes and in what they take their facts from."""
    said = _without_prohibitions(drawing.offer.question)
    writes = [id_ for id_, made in drawing.made.items() if made.tool.effect == "write"]
    checked = {*writes, *(before for id_ in writes for before in drawing.before(id_))}
    for id_, made in drawing.made.items():
        if made.tool.name in (WRITE, CHOOSE, WORK):
            continue
        for name, value in made.step.params.items():
            for literal in _literals(value):
                strict = isinstance(literal, str) and ("@" in literal or "://" in literal)
                if (id_ in checked or strict) and not is_said(literal, said):
                    yield (
                        f"node {id_!r}: the task does not say {str(literal)[:SHOWN]!r}, its {name}; use what the task "
                        "says, a field of a node, an input, or a text that an llm node writes"
                    )


def _literals(value: object) -> Iterator[object]:
    """The values that the graph itself has, those inside a join included."""
    if join := read_join(value):
        yield from (part for part in join.parts if isinstance(part, str) and any(map(str.isalnum, part)))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _literals(inner)
    else:
        yield value


def _without_prohibitions(question: str) -> str:
    """The task without what it says not to do: `but do not write to ben@lib.org`."""
    never = "|".join(map(re.escape, sorted(load_task_words().never, key=len, reverse=True)))
    return re.sub(rf"(?<!\w)(?:{never})(?!\w)[^;!?\n]*?(?=[;!?\n]|\.\s|\.$|$)", " ", question, flags=re.IGNORECASE)


def _lost(drawing: Drawing) -> Iterator[str]:
    """Addresses and quoted texts of the task that no node has; of parts that change something, codes too."""
    names = " ".join(made.tool.name for made in drawing.made.values()).lower()
    told = [text for made in drawing.made.values() for text in texts_in(thaw(made.step.params))]
    told += [branch.condition.when for branches in drawing.branches.values() for branch in branches if branch.condition]
    for part in drawing.offer.parts:
        for one in part.values:
            checked = one.kind != "code" or part.needs_effect
            if checked and not _is_told(one.text, told) and one.text.lower() not in names:
                yield f"no node has {one.text[:SHOWN]!r}, which the task says"


def _is_told(wanted: str, told: Sequence[str]) -> bool:
    """Whether the texts have this value; places such as `{name}` in it may have become references."""
    lower = [text.lower() for text in told]
    pieces = [piece.strip().lower() for piece in _PIECES.split(wanted) if piece.strip()]
    return all(any(piece in text for text in lower) for piece in pieces)


def _too_often(drawing: Drawing, claims: Mapping[str, Sequence[GraphPart]]) -> Iterator[str]:
    for part in drawing.offer.parts:
        acting = [id_ for id_, parts in claims.items() if part in parts and drawing.made[id_].tool.effect == "write"]
        if len(acting) > drawing.offer.most_times(part):
            yield f"{', '.join(acting)} do {part.text[:SHOWN]!r} more often than the task says"


def _left_out(drawing: Drawing, claims: Mapping[str, Sequence[GraphPart]]) -> Iterator[str]:
    """`each of them` is done for each: if it takes from one node, then from all that call the same tool."""
    for part in drawing.offer.parts:
        if not isinstance(part.value, Goal) or not part.value.each:
            continue
        doing = [drawing.made[id_] for id_, parts in claims.items() if part in parts]
        acting = [made for made in doing if made.tool.effect == "write"]
        taken = {reference.step for made in acting for _, reference in references(made.step.params)}
        tools = {made.tool.name for id_, made in drawing.made.items() if id_ in taken}
        for id_, made in drawing.made.items():
            if made.tool.name in tools and id_ not in taken:
                yield f"{part.text[:SHOWN]!r} is done for each, and nothing is done for {id_!r}"


def _reaching_nobody(drawing: Drawing) -> Iterator[str]:
    for id_, made in drawing.made.items():
        for name, value in made.step.params.items():
            if is_no_address(made.tool, name, value):
                yield f"node {id_!r} has {value!r} as its {name}, which is no address; find out whom it means first"
        for path, reference in references(made.step.params):
            name = path.split(".")[1]
            if reference.step in drawing.made and reaches_nobody(made.tool, name, reference.field):
                yield f"node {id_!r} takes {str(reference)!r} as its {name}, which is no address"


def _otherwise_conditions(drawing: Drawing, claims: Mapping[str, Sequence[GraphPart]]) -> Iterator[str]:
    """Changes behind a condition that is not the one the words say, or that lacks a value the words say."""
    constraints = {part.requirement.id: part for part in drawing.offer.parts if isinstance(part.value, Constraint)}
    for id_, parts in claims.items():
        for goal in parts:
            condition = constraints.get(goal.value.when or "")
            if condition is None or drawing.made[id_].tool.effect != "write":
                continue
            leading = [*drawing.leads_to(id_)]
            if not leading:
                yield f"node {id_!r} runs whether or not {condition.text!r}; put it behind a router"
            for router, place in leading:
                yield from _otherwise(drawing, id_, goal, condition, router, place)


def _otherwise(
    drawing: Drawing, id_: str, goal: GraphPart, condition: GraphPart, router: str, place: int
) -> Iterator[str]:
    branches = drawing.branches[router]
    own = branches[place].condition
    whens = [branch.condition.when for branch in branches if branch.condition]
    earlier = [branch.condition.when for branch in branches[:place] if branch.condition]
    effective = " && ".join((*(f"!({when})" for when in earlier), *([f"({own.when})"] if own else [])))
    looked = [drawing.made[step] for branch in branches if branch.condition for step in branch.condition.steps]
    wanted = next((said for made in looked for said in _by_words(condition, made)), None)
    if wanted is None:
        lacking = [one for one in _named_in(condition, looked) if not _is_told(one, [*whens, *_params_of(looked)])]
        if lacking:
            yield f"the router {router!r} does not look at {lacking[0]!r}, which {condition.text!r} says"
        return
    expected = wanted if goal.value.holds else f"!({wanted})"
    narrower = goal.value.holds and own and condition.value.when is None and not implies(expected, own.when)
    if not implies(effective, expected) or narrower:
        yield f"node {id_!r} runs if {effective}, but by {condition.text!r} it must run if {expected}"


def _by_words(condition: GraphPart, made: Made) -> Iterator[str]:
    """The condition that the words of the part put on the facts of this step, if they do."""
    if made.tool.name == CHOOSE:
        yield f'{made.step.id}.first.choice == "yes"'
        return
    yield from (found.when for found in find_conditions(ADDRESS.sub("", condition.text), [made], ()))


def _named_in(condition: GraphPart, looked: Sequence[Made]) -> Iterator[str]:
    """The values that a condition names, and the words of it that a field lists as its own."""
    if any(made.tool.name == CHOOSE for made in looked):
        return
    plain = QUOTED.sub(" ", condition.text)
    yield from (
        one.text for one in values_in(condition.text) if one.kind in _IN_CONDITIONS and one.text not in plain[:1]
    )
    said = spoken(plain)
    for made in looked:
        for schema in made.fields.values():
            yield from (choice for choice in choices_of(schema) if spoken(choice) in said)


def _params_of(looked: Sequence[Made]) -> Iterator[str]:
    for made in looked:
        yield from texts_in(thaw(made.step.params))
        yield from (str(reference) for _, reference in references(made.step.params))
