"""The plan does what was asked, all of it, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from groundplan.checking.draft import Draft, names
from groundplan.checking.params import MetricUse, column_uses, grains, metric_uses, rank_uses, walk
from groundplan.contracts.expression import Alike, Column, Found, FoundGroup, Overall, Related
from groundplan.contracts.expression import walk as every
from groundplan.contracts.issue import Issue
from groundplan.contracts.join_paths import SEPARATOR, foreign
from groundplan.contracts.knowledge import KnowledgeSchema
from groundplan.contracts.normal_form import normal_expression
from groundplan.contracts.plan import Step
from groundplan.contracts.reading import (
    AnalysisAsked,
    GroupBy,
    IntentAsked,
    Metric,
    OutputAsked,
    Rank,
    Requirement,
    Time,
)
from groundplan.contracts.tool import Tool
from groundplan.contracts.wording import in_words

LOOK_UP = frozenset({"entity", "intent", "relation"})  # what a look-up names; a search of documents names none of them


def missing(draft: Draft) -> Iterator[Issue]:
    """Every requirement is cited by a step whose tool has a capability that serves it.

    The catalog's map says which capabilities serve which requirement.

    Fails: a trend was asked for, and no step draws a line or computes changes over time.
    """
    for requirement in draft.reading.requirements:
        if any(draft.serves(tool, requirement.label) for _, tool in draft.citing(requirement.id)):
            continue
        wanted = sorted(draft.catalog.serving(requirement.label))
        yield Issue(
            code="coverage/missing",
            requirement=requirement.id,
            problem=f"no step serves {requirement.named}",
            hint=f"add a step with one of the capabilities {', '.join(wanted)}, and cite it in satisfies",
        )


def unjustified(draft: Draft) -> Iterator[Issue]:
    """Every step cites a requirement that it serves, or that a later step serves with its data.

    Fails: a step that finds anomalies cites nothing; a step cites `group_by:region` and nothing it feeds groups.
    """
    serving = {
        (step.id, id_)
        for _, step, tool in draft.tool_steps()
        for id_ in step.satisfies
        if id_ in draft.requirements and draft.serves(tool, draft.requirements[id_].label)
    }
    for index, step in enumerate(draft.plan.steps):
        if draft.wiring.by_id[step.id] is not step:
            continue
        reach = {step.id} | draft.wiring.feeds(step.id)
        if step.kind == "router":
            reach |= {route.to for route in step.routes} | ({step.default} if step.default else set())
        if any((user, id_) in serving for user in reach for id_ in step.satisfies):
            continue
        yield Issue(
            code="coverage/unjustified",
            step=step.id,
            path=f"steps.{index}.satisfies",
            problem=f"step {step.id!r} serves no requirement",
            hint="remove it, or cite the requirement it serves",
        )


def unasked(draft: Draft) -> Iterator[Issue]:
    """A tool made for one kind of question is used only when that was asked.

    The catalog says of such capabilities what must have been asked for (`asked_by`).

    Fails: a plan for totals by region finds anomalies too, citing `metric:revenue`.
    """
    for index, step, tool in draft.tool_steps():
        for capability in tool.capabilities:
            asked_by = draft.catalog.asked_by(capability)
            if asked_by and not asked_by & draft.labels:
                yield Issue(
                    code="coverage/unasked",
                    step=step.id,
                    path=f"steps.{index}.tool",
                    problem=f"step {step.id!r} uses {tool.name!r}, which answers {', '.join(sorted(asked_by))}; "
                    "that was not asked",
                    hint="remove the step",
                )
                break


def unsettled(draft: Draft) -> Iterator[Issue]:
    """A tool that brings an analysis with it works as the question says: its settings, its measures, or its defaults.

    Fails: six months were asked for, and the step forecasts three; a step forecasts a column that nobody asked for.
    """
    for index, step, tool in draft.tool_steps():
        if tool.analysis is None:
            continue
        asked = draft.requirements.get(tool.analysis.requirement)
        settings = dict(asked.value.settings if asked and isinstance(asked.value, AnalysisAsked) else ())
        for name, wanted, given in _settings(step, tool, settings):
            if wanted != given:
                yield Issue(
                    code="coverage/unsettled",
                    step=step.id,
                    requirement=asked.id if asked else None,
                    path=f"steps.{index}.params.{name}",
                    problem=f"step {step.id!r} has {name} = {given!r}, and {wanted!r} was asked",
                    hint=f"give {name} the value {wanted!r}",
                )
        for use in column_uses(step, tool):
            column = draft.input_column(step, tool, use.name) if use.role == "column" else None
            strange = sorted(names(column.origins) - draft.asked_columns) if column else []
            if strange:
                yield Issue(
                    code="coverage/unsettled",
                    step=step.id,
                    path=f"steps.{index}.{use.path}",
                    problem=f"step {step.id!r} works on {use.name!r}, and nobody asked for {strange[0]!r}",
                    hint="name the measure that was asked for",
                )


def _settings(step: Step, tool: Tool, asked: Mapping[str, int]) -> Iterator[tuple[str, object, object]]:
    """The params that are no columns, each with what it must be and what it is; one without a default is a choice."""
    properties = tool.params.get("properties")
    for name, spec in properties.items() if isinstance(properties, Mapping) else ():
        if not isinstance(spec, Mapping) or spec.get("x-role") or "x-column" in spec or spec.get("type") == "array":
            continue
        if name not in asked and "default" not in spec:
            continue
        usual = spec.get("default")
        yield name, asked.get(name, usual), step.params.get(name, usual)


def repeated_step(draft: Draft) -> Iterator[Issue]:
    """No two steps do the same thing to the same input.

    Fails: the same chart is drawn twice.
    """
    seen: dict[str, str] = {}
    for index, step in enumerate(draft.plan.steps):
        if step.kind != "tool":
            continue
        work = step.model_dump_json(include={"tool", "params", "needs"})
        if work in seen and seen[work] != step.id:
            yield Issue(
                code="coverage/repeated-step",
                step=step.id,
                path=f"steps.{index}",
                problem=f"step {step.id!r} does the same as {seen[work]!r}",
                hint="remove one of them",
            )
        seen.setdefault(work, step.id)


def ungrouped(draft: Draft) -> Iterator[Issue]:
    """A grouping that was asked for is done by a step that cites it, on that very column.

    A chart of single rows groups by drawing them apart, in colours or panels.

    Fails: `group_by:region` is cited by an aggregate that groups by `channel`.
    """
    if draft.is_compared:
        return  # meaning/differs compares all of it
    for requirement in draft.reading.requirements:
        if not isinstance(requirement.value, GroupBy):
            continue
        column = requirement.value.column
        if not any(
            use.role in ("group_by", "series") and draft.comes_from(step, tool, use.name, column)
            for step, tool in draft.citing(requirement.id)
            for use in column_uses(step, tool)
        ):
            yield unmet(requirement, "coverage/ungrouped", f"no step that cites it groups by {column!r}")


def unmeasured(draft: Draft) -> Iterator[Issue]:
    """A measure that was asked for is computed by a step that cites it, with the function that was asked for.

    Fails: the average of `revenue` was asked for, and the step that cites it sums.
    """
    if draft.is_compared:
        return  # meaning/differs compares all of it
    for requirement in draft.reading.requirements:
        if isinstance(requirement.value, Metric) and not any(
            _measures(draft, step, tool, requirement.value) for step, tool in draft.citing(requirement.id)
        ):
            wanted = requirement.value
            what = f"{wanted.function or 'use'} of {wanted.column or 'rows'}"
            yield unmet(requirement, "coverage/unmeasured", f"no step that cites it computes the {what}")


def _measures(draft: Draft, step: Step, tool: Tool, wanted: Metric) -> bool:
    metrics = [*metric_uses(step, tool)]
    for metric in metrics:
        if wanted.function not in (None, metric.function):
            continue
        if wanted.column is None and _counts_rows(draft, step, tool, metric):
            return True
        if wanted.column and draft.comes_from(step, tool, metric.column, wanted.column):
            return True
    if wanted.column is None or metrics:
        return False
    # tools without an aggregate (a correlation, a histogram) measure the columns they name
    return any(
        _made_by(draft, step, tool, use.name, wanted)
        for use in column_uses(step, tool)
        if use.role in ("column", "axis", "order", None)
    )


def _counts_rows(draft: Draft, step: Step, tool: Tool, metric: MetricUse) -> bool:
    """A column that identifies rows is in each of them once."""
    shape = draft.input_shape(step, tool)
    identifies = metric.column is not None and shape is not None and shape.is_unique_on(frozenset({metric.column}))
    return metric.column is None or (metric.function == "count" and identifies)


def _made_by(draft: Draft, step: Step, tool: Tool, name: str, wanted: Metric) -> bool:
    column = draft.input_column(step, tool, name)
    return bool(
        column
        and wanted.column in names(column.origins)
        and (wanted.function is None or column.function in (None, wanted.function))
    )


def untimed(draft: Draft) -> Iterator[Issue]:
    """A time axis that was asked for is used by a time-aware step that cites it, at the grain that was named.

    Without a named grain any will do: `auto` lets the data's span decide.

    Fails: "by month" was asked, and the aggregate that cites it cuts dates to weeks.
    """
    if draft.is_compared:
        return  # meaning/differs compares all of it
    for requirement in draft.reading.requirements:
        if not isinstance(requirement.value, Time):
            continue
        column, grain = requirement.value.column, requirement.value.grain
        users = [
            (step, tool)
            for step, tool in draft.citing(requirement.id)
            if draft.serves(tool, "time")
            and any(draft.comes_from(step, tool, use.name, column) for use in column_uses(step, tool))
        ]
        if not users:
            yield unmet(requirement, "coverage/untimed", f"no time-aware step that cites it uses {column!r}")
            continue
        cuts = {cut for step, tool in users for cut in _cuts(draft, step, tool)}
        if grain and cuts and cuts != {grain}:
            yield unmet(requirement, "coverage/untimed", f"{grain!r} was asked, the plan cuts to {sorted(cuts)[0]!r}")
        elif grain and not cuts:
            yield unmet(requirement, "coverage/untimed", f"no step that cites it cuts {column!r} to {grain!r}")


def _cuts(draft: Draft, step: Step, tool: Tool) -> Iterator[str]:
    own, shape = [*grains(step, tool)], draft.input_shape(step, tool)
    yield from own or ([shape.grain] if shape and shape.grain else [])


def unasked_column(draft: Draft) -> Iterator[Issue]:
    """Groupings and measures use only columns that were asked for.

    Fails: revenue by region was asked, and the aggregate groups by `channel` too.
    """
    if draft.is_compared:
        return  # meaning/differs compares all of it
    for index, step, tool in draft.tool_steps():
        groups = [(use.path, use.name, "groups by") for use in column_uses(step, tool) if use.role == "group_by"]
        counted = any(isinstance(r.value, Metric) and r.value.column is None for r in draft.reading.requirements)
        metrics = [
            (use.path, use.column, "measures")
            for use in metric_uses(step, tool)
            if not (counted and _counts_rows(draft, step, tool, use))
        ]
        for path, name, does in (*groups, *metrics):
            column = draft.input_column(step, tool, name)
            strange = sorted(names(column.origins) - draft.asked_columns) if column else []
            if strange:
                yield Issue(
                    code="coverage/unasked-column",
                    step=step.id,
                    path=f"steps.{index}.{path}",
                    problem=f"step {step.id!r} {does} {name!r}, and nobody asked for {strange[0]!r}",
                    hint="remove it",
                )


def unranked(draft: Draft) -> Iterator[Issue]:
    """A ranking keeps as many rows, from the end, that was asked for.

    Fails: the top 5 were asked for, and the step keeps 10.
    """
    if draft.is_compared:
        return  # meaning/differs compares all of it
    for requirement in draft.reading.requirements:
        if not isinstance(requirement.value, Rank):
            continue
        wanted = requirement.value
        for step, tool in draft.citing(requirement.id):
            for use in rank_uses(step, tool):
                if use.limit != wanted.limit or use.direction != wanted.direction:
                    yield unmet(
                        requirement,
                        "coverage/unranked",
                        f"step {step.id!r} keeps the {use.direction or 'some other'} {use.limit}",
                        step=step.id,
                    )


def other_chart(draft: Draft) -> Iterator[Issue]:
    """A chart kind that was named is the one that is drawn.

    Fails: a bar chart was asked for, and the step that cites it draws lines.
    """
    for requirement in draft.reading.requirements:
        if not isinstance(requirement.value, OutputAsked) or requirement.value.chart is None:
            continue
        wanted = f"{requirement.value.chart}_chart"
        citing = [tool for _, tool in draft.citing(requirement.id) if draft.serves(tool, requirement.label)]
        if citing and not any(wanted in tool.capabilities for tool in citing):
            yield unmet(
                requirement,
                "coverage/other-chart",
                f"{citing[0].name!r} does not draw a {requirement.value.chart} chart",
            )


def other_lookup(draft: Draft) -> Iterator[Issue]:
    """A look-up that cites an intent is that very one: the intent or its path, not both, from the entity asked about.

    What no path covers is served by a look-up that names neither. A search of documents may cite any intent: it is
    what is left when the graph has nothing.

    Fails: what `atlas` is built with was asked for, and the step that cites it looks up what is built with `atlas`.
    """
    for step, tool, cited, asked in _look_ups(draft):
        intents, relations, entities = (_named(step, tool, kind) for kind in ("intent", "relation", "entity"))
        start, knowledge = (asked.entity,) if asked.entity else (), draft.schemas[tool.source].knowledge
        if entities != start or (knowledge and (intents, relations) not in _ways(asked, knowledge)):
            what = f"{' / '.join(intents + relations) or 'everything'} from {' '.join(entities) or 'everywhere'}"
            yield unmet(cited, "coverage/other-lookup", f"step {step.id!r} looks up {what}", step=step.id)


def other_list(draft: Draft) -> Iterator[Issue]:
    """A look-up shows the part of a list that was asked for: from where, how many, and in which style.

    Without a number in the question, the plan's own limits hold.

    Fails: the rest of a list was asked for after the first ten, and the step that cites it starts at the first one.
    """
    for step, _, cited, asked in _look_ups(draft):
        offset, items = step.params.get("offset", 0), draft.plan.most_items(step)
        if offset != asked.offset:
            yield unmet(cited, "coverage/other-list", f"step {step.id!r} passes over {offset}", step=step.id)
        if asked.limit is not None and items != asked.limit:
            yield unmet(cited, "coverage/other-list", f"step {step.id!r} shows up to {items}", step=step.id)
        if asked.style is not None and draft.plan.render != asked.style:
            yield unmet(cited, "coverage/other-list", f"the plan shows it as {draft.plan.render}")


def _look_ups(draft: Draft) -> Iterator[tuple[Step, Tool, Requirement, IntentAsked]]:
    """The steps that look something up in a knowledge base, with each intent that they cite."""
    for _, step, tool in draft.tool_steps():
        schema = draft.schemas.get(tool.source)
        if schema is None or schema.knowledge is None or not LOOK_UP & {*_named_in(tool.params)}:
            continue
        for cited in (draft.requirements[id_] for id_ in step.satisfies if id_ in draft.requirements):
            if isinstance(cited.value, IntentAsked):
                yield step, tool, cited, cited.value


def _named_in(schema: object) -> Iterator[object]:
    """The kinds of names that a tool takes."""
    if isinstance(schema, Mapping):
        yield schema.get("x-names")
        for inner in schema.values():
            yield from _named_in(inner)


def _named(step: Step, tool: Tool, kind: str) -> tuple[str, ...]:
    nodes = (node for node in walk(step, tool) if node.schema.get("x-names") == kind)
    return tuple(node.value for node in nodes if isinstance(node.value, str))


def _ways(asked: IntentAsked, knowledge: KnowledgeSchema) -> set[tuple[tuple[str, ...], tuple[str, ...]]]:
    """The intents and relations that a look-up may name for it."""
    known = next((intent for intent in knowledge.intents if intent.name == asked.intent), None)
    path = asked.path or (known.path if known else ())
    by_path = {((), path)} if path or known is None else set()
    return {((asked.intent,), ()), *by_path}


def unmet(requirement: Requirement, code: str, why: str, step: str | None = None) -> Issue:
    """A requirement that is cited, and not done as it was asked."""
    return Issue(
        code=code,
        step=step,
        requirement=requirement.id,
        problem=f"{requirement.named} is not met: {why}",
        hint="let a step that cites it do exactly what was asked",
    )


def unjoined(draft: Draft) -> Iterator[Issue]:
    """What a question says of another table is joined by some step.

    Fails: the amount by the date of the order was asked for, and the plan never joins the orders.
    """
    columns = (column for relation in draft.relations.values() for column in relation.columns.values())
    made = {part for column in columns for part in every(column)}
    for requirement in draft.rooted.requirements:
        for node in foreign(requirement.value, _table(draft)):
            if isinstance(node, Found | FoundGroup):
                continue  # meaning/differs compares it
            if (isinstance(node, Overall | Alike) or node.via is not None) and normal_expression(node) not in made:
                yield unmet(requirement, "coverage/unjoined", f"no step joins {in_words(node)}")


def unasked_join(draft: Draft) -> Iterator[Issue]:
    """A join brings in only tables that the question speaks of, or that lie on the path to one of them.

    Fails: the total amount was asked for, and the plan joins the orders.
    """
    if not draft.is_compared:
        return
    asked = [node for r in draft.rooted.requirements for node in foreign(r.value, _table(draft))]
    paths = {(node.via or "") for one in asked for node in every(one) if isinstance(node, Column | Related)}
    for index, step, tool in draft.tool_steps():
        looked_up = tool.output.columns == "joined" and "on" in step.params
        relation = draft.relations.get(step.id) if looked_up else None
        columns = relation.columns.values() if relation else ()
        for node in (node for node in columns if isinstance(node, Column | Related)):
            if not any(path == node.via or path.startswith(f"{node.via}{SEPARATOR}") for path in paths):
                yield Issue(
                    code="coverage/unasked-join",
                    step=step.id,
                    path=f"steps.{index}",
                    problem=f"step {step.id!r} joins {node.table!r}, and nobody asked for that",
                    hint="remove the join",
                )
                break


def _table(draft: Draft) -> str:
    return draft.reading.tables[0] if draft.reading.tables else ""


RULES = (
    missing,
    unjustified,
    unasked,
    repeated_step,
    unsettled,
    ungrouped,
    unmeasured,
    untimed,
    unasked_column,
    unranked,
    other_chart,
    other_lookup,
    other_list,
    unjoined,
    unasked_join,
)
