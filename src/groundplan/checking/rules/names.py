"""Every name a plan uses must exist."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from rapidfuzz import process

from groundplan.checking.draft import Draft
from groundplan.checking.params import column_uses, expressions, walk
from groundplan.contracts.expression import Named
from groundplan.contracts.expression import walk as nodes
from groundplan.contracts.issue import Issue
from groundplan.contracts.knowledge import KnowledgeSchema
from groundplan.contracts.tool import Tool

DOCUMENT = "document"  # the type of a page that is not a node


def unknown_tool(draft: Draft) -> Iterator[Issue]:
    """A step calls only tools the catalog lists.

    Fails: a step calls `agregate`; the catalog lists `aggregate`.
    """
    for index, step in enumerate(draft.plan.steps):
        if not step.tool or step.tool in draft.catalog.tools:
            continue
        near = draft.catalog.nearest(step.tool)
        yield Issue(
            code="names/unknown-tool",
            step=step.id,
            path=f"steps.{index}.tool",
            problem=f"step {step.id!r} calls {step.tool!r}, which the catalog does not list",
            hint=f"did you mean {near!r}?" if near else "see `groundplan catalog list`",
        )


def no_source(draft: Draft) -> Iterator[Issue]:
    """A step's tool belongs to an open source, so that the gate can check its tables and columns.

    Fails: a plan that aggregates a table is checked without `--source`.
    """
    reading = [
        (step, tool) for _, step, tool in draft.tool_steps() if tool.inputs or tool.output.table or _looks_up(tool)
    ]
    wanted = {tool.source: step.id for step, tool in reversed(reading)}
    for source, step in sorted(wanted.items()):
        if source not in draft.schemas:
            yield Issue(
                code="names/no-source",
                step=step,
                problem=f"the plan reads the source {source!r}, and no such source is open",
                hint="name one: groundplan check plan.json --source FILE",
            )


def unknown_table(draft: Draft) -> Iterator[Issue]:
    """A param that fills an input names a table of the source.

    Fails: `table: sale`; the source has `sales`.
    """
    for index, step, tool in draft.tool_steps():
        schema = draft.schemas.get(tool.source)
        for port, origin in draft.wiring.inputs(step, tool).items():
            if schema is None or not isinstance(origin, str) or schema.find(origin):
                continue
            tables = [table.name for table in schema.tables]
            yield Issue(
                code="names/unknown-table",
                step=step.id,
                path=f"steps.{index}.params.{port}",
                problem=f"step {step.id!r} reads {origin!r}, which is not a table of the source",
                hint=suggest(origin, tables),
            )


def unknown_column(draft: Draft) -> Iterator[Issue]:
    """A param that names a column names one that the step's input has at that point of the plan.

    The gate tracks columns from the source through every step. Columns that an aggregate drops cannot be used later,
    and columns that a pivot creates cannot be named, because they depend on the data.

    Fails: a chart draws `revenue` after an aggregate that calls its total `total_revenue`.
    """
    for index, step, tool in draft.tool_steps():
        for use in column_uses(step, tool):
            shape = draft.input_shape(step, tool, use.port)
            if shape is None or use.name in (shape.columns or {}):
                continue
            known = [*(shape.columns or {})]
            yield Issue(
                code="names/unknown-column",
                step=step.id,
                path=f"steps.{index}.{use.path}",
                problem=f"step {step.id!r} names the column {use.name!r}, which its input does not have",
                hint=suggest(use.name, known)
                if known
                else "the input's columns depend on the data; use it in an earlier step",
            )


def unknown_metric(draft: Draft) -> Iterator[Issue]:
    """A metric that is named is one that the semantic model defines.

    The gate writes out the definition before it checks a plan, so a name that is left has none.

    Fails: a requirement names the metric `turnover`; no model file defines it.
    """
    defined = [metric.name for schema in draft.schemas.values() for metric in schema.metrics]
    asked = [(None, r.id, "requirements", r.value) for r in draft.reading.requirements]
    done = [
        (step.id, None, f"steps.{index}.{path}", node)
        for index, step, tool in draft.tool_steps()
        for path, node in expressions(step, tool)
        if node is not None
    ]
    for step, requirement, path, given in (*asked, *done):
        for name in (part.name for part in nodes(given) if isinstance(part, Named)):
            yield Issue(
                code="names/unknown-metric",
                step=step,
                requirement=requirement,
                path=path,
                problem=f"{step or requirement!r} names the metric {name!r}, which the semantic model does not define",
                hint=suggest(name, defined),
            )


def column_taken(draft: Draft) -> Iterator[Issue]:
    """A new column has a name that is not in use.

    Fails: `derive_column` adds `revenue` to a table that has `revenue`; an aggregate gives two totals the same name.
    """
    for index, step, tool in draft.tool_steps():
        shape = draft.input_shape(step, tool)
        keeps = {use.name for use in column_uses(step, tool) if use.keep}
        taken = set((shape.columns if shape else None) or {}) if tool.output.columns in ("input", "joined") else keeps
        taken |= set(tool.output.adds)
        for node in walk(step, tool):
            if "x-new" not in node.schema or not isinstance(node.value, str):
                continue
            if node.value in taken:
                yield Issue(
                    code="names/column-taken",
                    step=step.id,
                    path=f"steps.{index}.{node.path}",
                    problem=f"step {step.id!r} adds the column {node.value!r}, but that name is taken",
                    hint="choose another name",
                )
            taken.add(node.value)


def unknown_entity(draft: Draft) -> Iterator[Issue]:
    """A param that names an entity names one that the question mentions.

    So no plan reads a node that was not asked about, whatever texts a source contains.

    Fails: the question mentions `project:atlas`, and a step looks up `project:echo`.
    """
    known = [entity.id for entity in draft.reading.entities]
    for index, step, tool in draft.tool_steps():
        for node in walk(step, tool):
            if node.schema.get("x-names") != "entity" or not isinstance(node.value, str) or node.value in known:
                continue
            yield Issue(
                code="names/unknown-entity",
                step=step.id,
                path=f"steps.{index}.{node.path}",
                problem=f"step {step.id!r} looks up {node.value[:80]!r}, which the question does not mention",
                hint=suggest(node.value, known),
            )


def unknown_term(draft: Draft) -> Iterator[Issue]:
    """A param that names a relation, an intent or a type names one that the knowledge base describes.

    A relation with the prefix `^` is followed backwards.

    Fails: a step follows `use`; the knowledge base has `uses`.
    """
    for index, step, tool in draft.tool_steps():
        schema = draft.schemas.get(tool.source)
        if schema is None or schema.knowledge is None:
            continue  # names/no-source reports it
        terms = _terms(schema.knowledge)
        for node in walk(step, tool):
            kind = str(node.schema.get("x-names"))
            if kind not in terms or not isinstance(node.value, str) or node.value in terms[kind]:
                continue
            yield Issue(
                code="names/unknown-term",
                step=step.id,
                path=f"steps.{index}.{node.path}",
                problem=f"step {step.id!r} names the {kind} {node.value[:80]!r}, which the source does not have",
                hint=suggest(node.value, terms[kind]),
            )


def _terms(knowledge: KnowledgeSchema) -> dict[str, list[str]]:
    relations = [relation.name for relation in knowledge.relations]
    return {
        "relation": [*relations, *(f"^{name}" for name in relations)],
        "intent": [intent.name for intent in knowledge.intents],
        "type": [*(kind.name for kind in knowledge.types), DOCUMENT],
    }


def _looks_up(tool: Tool) -> bool:
    """Whether a param of the tool names something in its own source."""
    return any("x-names" in schema for schema in _schemas(tool.params))


def _schemas(schema: object) -> Iterator[Mapping[str, object]]:
    if isinstance(schema, Mapping):
        yield schema
        for inner in schema.values():
            yield from _schemas(inner)


def unknown_requirement(draft: Draft) -> Iterator[Issue]:
    """A step cites only requirements that were read from the question.

    Fails: a step satisfies `analysis:anomaly`, and nobody asked for anomalies.
    """
    for index, step in enumerate(draft.plan.steps):
        for place, cited in enumerate(step.satisfies):
            if cited not in draft.requirements:
                yield Issue(
                    code="names/unknown-requirement",
                    step=step.id,
                    path=f"steps.{index}.satisfies.{place}",
                    problem=f"step {step.id!r} cites {cited[:80]!r}, which was not asked for",
                    hint=suggest(cited, draft.requirements),
                )


def suggest(name: str, known: Iterable[str]) -> str:
    """A hint with the nearest known name, or with the first of the known names."""
    names = list(known)
    near = process.extractOne(name[:128], names, score_cutoff=75)
    if near:
        return f"did you mean {near[0]!r}?"
    shown = ", ".join(repr(item) for item in names[:12])
    return f"there are: {shown}{' …' if len(names) > 12 else ''}" if names else "there are none"


RULES = (
    unknown_tool,
    no_source,
    unknown_table,
    unknown_column,
    unknown_metric,
    column_taken,
    unknown_entity,
    unknown_term,
    unknown_requirement,
)
