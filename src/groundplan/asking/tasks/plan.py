"""Plans a workflow for a task by its words: a step for each goal, references between steps, routers for conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

from groundplan.asking.tasks.choose import Chosen, PartRequest, by_words, can_replace, may_stand_in, stands_in
from groundplan.asking.tasks.conditions import StepCondition, find_conditions
from groundplan.asking.tasks.fill import (
    NAMED_FOR,
    Made,
    choices_of,
    fill,
    gives_one,
    is_unsaid_amount,
    linked,
    properties_of,
    taken,
    types_of,
)
from groundplan.asking.tasks.routing import goal_of, wired
from groundplan.asking.tasks.task_words import glossed, load_compose_words, spoken, tool_words, unquoted
from groundplan.asking.tasks.values import alternatives_in, impossible_in, values_in
from groundplan.catalog.catalog import Catalog
from groundplan.contracts.contract import thaw
from groundplan.contracts.plan import INPUT, Plan, Step, WorkflowInput
from groundplan.contracts.reading import Constraint, Goal, Reading, Requirement
from groundplan.contracts.references import references
from groundplan.contracts.tool import Output, Tool
from groundplan.text.names import name_words
from groundplan.text.stems import stem

ATTEMPTS = 3  # tools that are tried for a part
WRITE, CHOOSE = "model.write", "model.choose"  # available if there is a model
MOST_FACTS = 12  # for a text that a model writes
SETTLED, GUESSED, AGAIN = 0.6, 0.15, 0.05  # how often a workflow was exactly right: see docs/decisions/0031
OFFERED = 8  # tools to choose from, per part
SUPPLYING = 8  # tools to try for a missing value
SUBJECTS = ("email", "code", "quoted", "name")  # kinds of value that can be the subject of a part

Search = Callable[[str, int], Sequence[str]]


@dataclass(frozen=True)
class NoWorkflow:
    """Why there is no workflow: what is missing, and what the user can say."""

    problem: str
    hint: str
    part: str


@dataclass(frozen=True)
class Workflow:
    """A workflow with its log. `sure` is the share of parts that rules settled without a guess."""

    plan: Plan
    attempts: int
    sure: float
    log: tuple[str, ...]


def compose(reading: Reading, catalog: Catalog, search: Search, inputs: Sequence[str] = ()) -> Workflow | NoWorkflow:
    """The workflow for a task's goals and constraints, or why there is none. Params may take `inputs` by their name."""
    if problem := _open_values(reading):
        return problem
    composer = _Composer(reading, catalog, search, _inputs(inputs))
    for requirement in reading.requirements:
        match requirement.value:
            case Constraint():
                problem = composer.look(requirement)
            case Goal():
                problem = composer.act(requirement)
            case _:
                problem = None
        if problem:
            return problem
    if problem := composer.changes_beside_a_stand_in():
        return problem
    steps = wired(reading, composer.made, composer.served, composer.looked, composer.told)
    if not steps:
        return NoWorkflow("no tool here does this", "see `groundplan sources list` for what there is", reading.question)
    plan = Plan(strategy="compose", steps=steps, render="GROUPED_BULLETS", takes=tuple(_taken(steps, catalog)))
    return Workflow(plan, composer.attempts, composer.sure, tuple(composer.log))


def _open_values(reading: Reading) -> NoWorkflow | None:
    """What is to be done leaves open which value is meant, or the task names a day or a time that does not exist."""
    if wrong := impossible_in(reading.question):
        return NoWorkflow(f"there is no {wrong}", "say another day or time", reading.question)
    for goal in (requirement.value for requirement in reading.requirements):
        if isinstance(goal, Goal) and (several := alternatives_in(goal.text)):
            return NoWorkflow(f"the task says {' or '.join(map(repr, several))}", "say which one", goal.text)
    return None


@dataclass
class _Composer:
    reading: Reading
    catalog: Catalog
    search: Search
    given: tuple[Made, ...] = ()
    made: list[Made] = field(default_factory=list)
    looked: dict[str, list[tuple[str | None, StepCondition]]] = field(default_factory=dict)  # by constraint
    served: dict[str, str] = field(default_factory=dict)  # the first requirement of each step
    told: list[str] = field(default_factory=list)  # goals that only add details to others
    settled: list[bool] = field(default_factory=list)  # for each part, whether rules settled it without a guess
    stood_in: list[NoWorkflow] = field(default_factory=list)  # why another tool does what a part names by its tool
    attempts: int = 1
    log: list[str] = field(default_factory=list)

    @property
    def sure(self) -> float:
        return sum(self.settled) / len(self.settled) if self.settled else 1.0

    def changes_beside_a_stand_in(self) -> NoWorkflow | None:
        """In a task that changes something, no tool stands in for one that a part names."""
        changes = any(made.tool.effect == "write" for made in self.made)
        return next(iter(self.stood_in), None) if changes else None

    def act(self, requirement: Requirement) -> NoWorkflow | None:
        """Add one step, or one for each subject that the words name or refer to."""
        goal = requirement.value
        assert isinstance(goal, Goal)
        last: NoWorkflow | None = None
        for subject in self._subjects(requirement):
            last = self._act(requirement, subject)
            if last:
                return last
        return last

    def _act(self, requirement: Requirement, subject: str | None) -> NoWorkflow | None:
        text, earlier = self._about(_words(requirement), subject), self._earlier(subject)
        if self._tells_of_last(text):
            self.told.append(requirement.id)
            return None
        request = PartRequest(
            text, self._offered(text), earlier, suppliable=partial(self._suppliable, requirement, subject)
        )
        if request.cannot_be_done:
            return NoWorkflow(f"no tool here does {text!r}", "see `groundplan sources list` for what there is", text)
        first: NoWorkflow | None = None
        best = next(iter(request.fitting), None)
        while request.attempt <= ATTEMPTS and request.offered:
            self.attempts = max(self.attempts, request.attempt)
            chosen = by_words(request)
            if chosen is None:
                self.told.append(requirement.id)
                return None
            if self._adds_to_last(requirement, chosen, subject):
                return None
            problem = self._made(requirement, chosen, subject)
            if problem is None and best and not stands_in(chosen.tool, best, request.part):
                self.stood_in.append(first or NoWorkflow(f"{best.name} lacks a value", "say it", request.part))
            if problem is None:
                self.settled.append(chosen.filling.sure)
                return None
            first = first or problem
            self.log.append(f"attempt {request.attempt}: {problem.problem}")
            others = tuple(
                tool
                for tool in request.offered
                if tool.name != chosen.tool.name
                and can_replace(tool, chosen.tool, request.part)
                and may_stand_in(tool, chosen.tool, request.part)
            )
            request = replace(request, offered=others, attempt=request.attempt + 1)
        return first

    def _made(self, requirement: Requirement, chosen: Chosen, subject: str | None) -> NoWorkflow | None:
        chosen, problem = self._supplied(requirement, chosen, subject)
        if problem:
            return problem
        lists = self._lists_of(requirement, chosen)
        if len(lists) > 1:
            problem_ = f"{' and '.join(lists)} each have a list, and one step cannot run for the items of both"
            return NoWorkflow(problem_, "say it in two tasks", _words(requirement))
        param, values = chosen.filling.fanned or (None, ())
        if param is None:
            self._add(requirement, chosen.tool, chosen.filling.params, subject, next(iter(lists), None))
        for value in values:
            self._add(requirement, chosen.tool, {**chosen.filling.params, str(param): value}, str(value))
        return None

    def _lists_of(self, requirement: Requirement, chosen: Chosen) -> list[str]:
        """The steps whose lists `each of them` refers to: what is done, is done for each item."""
        goal = requirement.value
        named = {reference.step for _, reference in references(chosen.filling.params)}
        lists = [made.step.id for made in self.made if made.step.id in named and made.tool.returns.get("x-many")]
        return lists if isinstance(goal, Goal) and goal.each else []

    def look(self, requirement: Requirement) -> NoWorkflow | None:
        """Find or add the step on whose facts a condition depends."""
        text = _words(requirement)
        found: list[tuple[str | None, StepCondition]] = []
        for subject in self._subjects(requirement):
            about = self._about(text, subject)
            offered = {tool.name: tool for tool in (*self._offered(about), *self._telling(text))}
            readings = find_conditions(about, self._earlier(subject), [*offered.values()])
            made = next(filter(None, (self._looked_at(requirement, one, subject) for one in readings)), None)
            made = made or self._judged(requirement, subject)
            if made is None:
                return self._unknown_condition(text)
            found += made
        self.looked[requirement.id] = found
        return None

    def _judged(self, requirement: Requirement, subject: str | None) -> list[tuple[str | None, StepCondition]] | None:
        """A condition that no field expresses, such as `if the answer sounds angry`: a model decides from the facts."""
        tool, facts = self.catalog.tools.get(CHOOSE), self._facts(subject)
        if tool is None or not facts:
            return None
        params = {"question": requirement.words, "facts": facts, "choices": ["yes", "no"]}
        made = self._add(requirement, tool, params, subject)
        return [(subject, StepCondition(made, '{step}.first.choice == "yes"'))]

    def _facts(self, subject: str | None) -> dict[str, Any]:
        given = [
            (made, field) for made in self._earlier(subject) if made.tool.effect == "read" for field in made.fields
        ]
        return {f"{made.step.id} {field}": {"$from": f"{made.step.id}.{field}"} for made, field in given[-MOST_FACTS:]}

    def _unknown_condition(self, text: str) -> NoWorkflow:
        """Why no step can evaluate the condition, and what the user can say instead."""
        tool = next((tool for tool in self._telling(text) if properties_of(tool)), None)
        if tool is None:
            return NoWorkflow(f"no tool can tell whether {text!r}", "use words that occur in a tool's results", text)
        if fill(tool, text).params:
            return NoWorkflow(f"{tool.name} cannot check all of {text!r}", "use only what its results contain", text)
        wanted = " or ".join(properties_of(tool))
        return NoWorkflow(f"{tool.name} can check whether {text!r}, but it needs the {wanted}", "add it", text)

    def _looked_at(
        self, requirement: Requirement, looked: StepCondition, subject: str | None
    ) -> list[tuple[str | None, StepCondition]]:
        if isinstance(looked.at, Made):
            return [(looked.at.subject or subject, looked)]
        chosen, problem = self._supplied(requirement, looked.at, subject)
        if problem:
            return []
        param, values = chosen.filling.fanned or (None, ())
        if param is None:
            step = self._add(requirement, chosen.tool, chosen.filling.params, subject)
            return [(subject, replace(looked, at=step))]
        params = chosen.filling.params
        steps = [(str(v), self._add(requirement, chosen.tool, {**params, param: v}, str(v))) for v in values]
        return [(value, replace(looked, at=step)) for value, step in steps]

    def _subjects(self, requirement: Requirement) -> list[str | None]:
        """The subjects of the part's condition, or those that `them` refers to; otherwise one unnamed subject."""
        goal = requirement.value
        assert isinstance(goal, Goal | Constraint)
        if goal.when and self.looked.get(goal.when):
            return [subject for subject, _ in self.looked[goal.when]]
        text = _words(requirement)
        if not set(load_compose_words().people) & set(name_words(unquoted(text))):
            return [None]
        subjects = [made.subject for made in self.made if made.subject] or self._named_before(requirement)
        named = any(subject in text for subject in subjects)
        return [*dict.fromkeys(subjects)] if subjects and not named else [None]

    def _named_before(self, requirement: Requirement) -> list[str]:
        """The last list of addresses or codes before these words: `for ann@… and ben@…: if they are members`."""
        before = [s for s in values_in(self.reading.question[: requirement.start]) if s.kind in SUBJECTS]
        last = [one.text for one in before if one.group == before[-1].group]
        everyone = {one.text for one in values_in(self.reading.question) if one.kind == "email"}
        return last if len(last) > 1 else [*everyone] if len(everyone) == 1 else []

    def _about(self, text: str, subject: str | None) -> str:
        """The words with the subject added, unless an earlier step is already about it."""
        known = any(made.subject == subject for made in self.made)
        return text if subject is None or known else f"{text} {subject}"

    def _telling(self, text: str) -> Iterator[Tool]:
        """The tools that read and have a result field matching one of the words."""
        said = spoken(text)
        for tool in self.catalog.tools.values():
            properties = tool.returns.get("properties") if tool.effect == "read" else None
            schemas = properties.values() if isinstance(properties, Mapping) else ()
            if any(spoken(word) in said for schema in schemas for word in choices_of(cast(Mapping[str, Any], schema))):
                yield tool

    def _earlier(self, subject: str | None) -> tuple[Made, ...]:
        own = (made for made in self.made if subject is None or made.subject in (None, subject))
        return (*self.given, *own)

    def _offered(self, text: str) -> tuple[Tool, ...]:
        return tuple(self.catalog.tools[name] for name in self.search(glossed(text), OFFERED))

    def _tells_of_last(self, text: str) -> bool:
        """Whether the words only ask for fields of the previous step: `provide the name and the address`."""
        words = name_words(text)
        if not self.made or words[:1] == () or words[0] not in load_compose_words().telling or values_in(text):
            return False
        said = set(map(stem, words))
        return any({stem(word) for word in name_words(field)} <= said for field in self.made[-1].fields)

    def _adds_to_last(self, requirement: Requirement, chosen: Chosen, subject: str | None) -> bool:
        """Whether the words only add details to the previous step: the same tool, without its required params."""
        if not self.made or chosen.filling.fanned or self.made[-1].tool.name != chosen.tool.name:
            return False
        goal, last = requirement.value, self.made[-1]
        before = self._goal_of(last)
        assert isinstance(goal, Goal)
        if before is None or before.when != goal.when or before.holds != goal.holds or last.subject != subject:
            return False
        own = {name: value for name, value in chosen.filling.params.items() if last.step.params.get(name) != value}
        differs = any(name in last.step.params for name in own)
        if differs and not chosen.filling.missing:
            return False
        params = {**chosen.filling.params, **cast(dict[str, Any], thaw(last.step.params))}
        satisfies = (*last.step.satisfies, requirement.id)
        step = last.step.model_copy(update={"params": params, "satisfies": satisfies})
        self.made[-1] = replace(last, step=Step.model_validate(step.model_dump()))
        return True

    def _goal_of(self, made: Made) -> Goal | None:
        return goal_of(made, self.reading, self.served)

    def _supplied(
        self, requirement: Requirement, chosen: Chosen, subject: str | None
    ) -> tuple[Chosen, NoWorkflow | None]:
        """Supply missing params from an additional step that returns them."""
        params, before = dict(chosen.filling.params), [*self.made]
        for name in chosen.filling.missing:
            given = self._supply(requirement, chosen.tool, name, subject) or self._written(requirement, name, subject)
            if given is None:
                self.made = before
                problem = f"{chosen.tool.name} needs {name!r}, and neither the task nor another tool provides it"
                return chosen, NoWorkflow(problem, f"add the {name!r} to the task", _words(requirement))
            params[name] = given
        return Chosen(chosen.tool, replace(chosen.filling, params=params, missing=())), None

    def _suppliable(self, requirement: Requirement, subject: str | None, chosen: Chosen) -> bool:
        before = [*self.made]
        _, problem = self._supplied(requirement, chosen, subject)
        self.made = before
        return problem is None

    def _supply(self, requirement: Requirement, tool: Tool, name: str, subject: str | None) -> Any:
        """A reference to a step that returns a field of this name, and whose params rules fill without a guess."""
        text = _words(requirement)
        if is_unsaid_amount(tool, name, text):
            return None
        described = properties_of(tool)[name].get("description", "")
        for candidate in self.search(f"{' '.join(name_words(name))} {described} {text}", SUPPLYING):
            source = self.catalog.tools[candidate]
            if source.effect == "write" or source.name == tool.name or not gives_one(source, text):
                continue
            filling = fill(source, f"{text} {subject or ''}")
            trial = Made(Step(id="trial", tool=source.name, params=filling.params), source)
            field = next((one for one in trial.fields if linked(name, True, one, trial, set()) >= NAMED_FOR), None)
            if field is None or filling.missing or filling.guessed or (properties_of(source) and not filling.params):
                continue
            made = self._add(requirement, source, filling.params, subject)
            return taken(made, field, properties_of(tool)[name])
        return None

    def _written(self, requirement: Requirement, name: str, subject: str | None) -> Any:
        """A text that the task asks for but does not contain: a model writes it from the facts of earlier steps."""
        tool = self.catalog.tools.get(WRITE)
        if tool is None or not set(name_words(name)) & set(load_compose_words().written):
            return None
        instruction = f"Write only the {' '.join(name_words(name))} for this task: {requirement.words}"
        made = self._add(requirement, tool, {"instruction": instruction, "facts": self._facts(subject)}, subject)
        return {"$from": f"{made.step.id}.text"}

    def _add(
        self,
        requirement: Requirement,
        tool: Tool,
        params: Mapping[str, Any],
        subject: str | None,
        for_each: str | None = None,
    ) -> Made:
        """Add a step, or return an existing step that does the same."""
        for place, made in enumerate(self.made):
            same = made.step.for_each == for_each and _same(made.step.params, params)
            if made.tool.name == tool.name and tool.effect == "read" and same:
                satisfies = tuple(dict.fromkeys((*made.step.satisfies, requirement.id)))
                self.made[place] = replace(made, step=made.step.model_copy(update={"satisfies": satisfies}))
                return self.made[place]
        needs = tuple(dict.fromkeys(one.step for _, one in references(params) if one.step != INPUT))
        step = Step(
            id=self._id(tool),
            kind="llm" if tool.name in (WRITE, CHOOSE) else "tool",
            tool=tool.name,
            params=dict(params),
            needs=needs,
            satisfies=(requirement.id,),
            rationale=requirement.words,
            for_each=for_each,
        )
        self.made.append(Made(step, tool, subject))
        self.served[step.id] = requirement.id
        return self.made[-1]

    def _id(self, tool: Tool) -> str:
        plain = "_".join(tool_words(tool.name))[:50] or "step"
        plain = plain if plain[0].isascii() and plain[0].isalpha() and plain.isascii() else "step"
        taken = {made.step.id for made in self.made}
        return next(name for n in range(1, 1_000) if (name := plain if n == 1 else f"{plain}_{n}") not in taken)


def _inputs(names: Sequence[str]) -> tuple[Made, ...]:
    """The inputs as a step whose fields they are, so that params find them as they find other fields."""
    if not names:
        return ()
    fields: dict[str, Any] = {name: {"type": "string"} for name in names}
    tool = Tool(
        name=INPUT,
        description="The inputs of the workflow.",
        source=INPUT,
        capabilities=("retrieve",),
        params={},
        output=Output(kind="facts"),
        returns={"type": "object", "properties": fields},
        effect="read",
    )
    return (Made(Step(id=INPUT, tool=INPUT), tool),)


def _taken(steps: Sequence[Step], catalog: Catalog) -> Iterator[WorkflowInput]:
    """The inputs that the steps take, each once; the type is that of the first param."""
    seen: set[str] = set()
    for step in steps:
        for path, reference in references(step.params):
            if reference.step != INPUT or reference.field in seen or step.tool is None:
                continue
            seen.add(reference.field)
            wanted = types_of(properties_of(catalog.tools[step.tool]).get(path.split(".")[1], {}))
            plain = next((one for one in ("integer", "number", "boolean") if one in wanted), "string")
            yield WorkflowInput.model_validate({"name": reference.field, "type": plain})


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return thaw(one) == thaw(other)


def confidence_of(sure: float, attempts: int) -> float:
    """The probability that exactly these tools and references are right, by the share of settled parts and attempts."""
    return round(GUESSED + (SETTLED - GUESSED) * sure, 2) if attempts == 1 else AGAIN


def _words(requirement: Requirement) -> str:
    """All words of a requirement; the evidence may be truncated."""
    value = requirement.value
    return value.text if isinstance(value, Goal | Constraint) else requirement.words
