"""A table with the columns of the tables that its rows point at, so that one grammar reads questions over several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from groundplan.asking.tables.grammar.implied import intent_of, with_implied
from groundplan.asking.tables.grammar.lexicon import Key, load
from groundplan.asking.tables.grammar.meanings import IDENTIFYING, NAMING, Joined
from groundplan.asking.tables.grammar.names import GENERIC
from groundplan.asking.tables.grammar.state import DoesNotCompose
from groundplan.contracts.columns import DUPLICATE_PROOF, Grain
from groundplan.contracts.contract import Contract
from groundplan.contracts.expression import (
    Aggregate,
    Column,
    Compare,
    Constant,
    DateCut,
    Expression,
    Holds,
    Related,
    Rows,
    columns_of,
    parts,
    walk,
)
from groundplan.contracts.join_paths import Path, foreign, name_of, paths_between
from groundplan.contracts.meaning import measure_of
from groundplan.contracts.normal_form import mapped, of_filter
from groundplan.contracts.reading import (
    AnalysisAsked,
    ColumnsAsked,
    Each,
    EachMeasure,
    Filter,
    GroupBy,
    Intent,
    Metric,
    OutputAsked,
    Rank,
    Reading,
    Requirement,
    Time,
)
from groundplan.contracts.schema import Column as Described
from groundplan.contracts.schema import SourceSchema, Table
from groundplan.text.names import singular, split_name
from groundplan.text.stems import stem

Values = Mapping[str, tuple[str, ...]]
LONGEST_NAME = 100
MOST_TABLES = 12  # that one table is widened by, the nearest first


@dataclass(frozen=True)
class Wide:
    """`of` says what the columns are that the table itself does not have, `joined` what else they are called."""

    table: Table
    values: Values
    of: Mapping[str, Expression]
    joined: Mapping[str, Joined]


def widened(
    table: Table, schema: SourceSchema, values: Mapping[str, Values], *, pointed_at: bool = False
) -> Wide | None:
    """With the columns of tables that its rows point at; and, to tell what names them, with tables whose rows point
    at them. None without any."""
    columns, listed = [*table.columns], dict(values.get(table.name, {}))
    found: dict[str, Expression] = {}
    joined: dict[str, Joined] = {}
    for other, paths in _reached(table, schema):
        for path in paths:
            for column in _worth(other, path):
                name = _called(column, other, path if len(paths) > 1 else (), {c.name for c in columns})
                via = name_of(path) if len(paths) > 1 else None
                found[name] = Column(table=other.name, name=column.name, via=via)
                joined[name] = _joined(column, other, path if len(paths) > 1 else ())
                told = {"nulls": _nulls(column, path, schema), "one_for_each": _names_one(column, other, path)}
                columns.append(column.model_copy(update={"name": name, **told}))
                if column.name in values.get(other.name, {}):
                    listed[name] = values[other.name][column.name]
    for other in _pointing(table, schema) if pointed_at else ():
        found[other.name] = Holds(condition=Compare(left=_number(other), operator=">", right=Constant(value=0)))
        joined[other.name] = Joined(_deeds(other))
        columns.append(Described(name=other.name, type="boolean", kind="boolean", role="dimension", cardinality=2))
    return Wide(table.model_copy(update={"columns": tuple(columns)}), listed, found, joined) if found else None


def _number(table: Table) -> Related:
    return Related(table=table.name, of=Rows())


def _pointing(table: Table, schema: SourceSchema) -> list[Table]:
    """The tables whose rows point at rows of this one, directly and in one way only."""
    taken = {column.name for column in table.columns}
    others = [other for other in schema.tables if other.name not in taken]
    paths = [paths_between(schema.relationships, other.name, table.name) for other in others]
    return [other for other, found in zip(others, paths, strict=True) if len(found) == 1 == len(found[0])]


def _deeds(table: Table) -> frozenset[Key]:
    """The verbs for its rows: ordered and bought, where they are orders."""
    noun = stem(split_name(table.name)[-1])
    deeds = [(verb,) for verb in load().row_verbs.get(noun, ())]
    return frozenset({(noun,), *deeds, *((*deed, stem("anything")) for deed in deeds)})


def _reached(table: Table, schema: SourceSchema) -> Iterator[tuple[Table, Sequence[Path]]]:
    others = [(other, paths_between(schema.relationships, table.name, other.name)) for other in schema.tables]
    near = sorted((pair for pair in others if pair[1]), key=lambda pair: min(map(len, pair[1])))
    return iter(near[:MOST_TABLES])


def _worth(table: Table, path: Path) -> list[Described]:
    """The columns that say more than what points at them."""
    return [column for column in table.columns if column.name not in path[-1].to_columns]


def _nulls(column: Described, path: Path, schema: SourceSchema) -> int:
    """At least one where a row may point at nothing."""
    missing = column.nulls or 0
    for link in path:
        table = schema.find(link.table)
        own = [table.find(name) for name in link.columns] if table else []
        missing += sum(one.nulls or 0 for one in own if one) + (link.orphans or 0)
    return missing


def _names_one(column: Described, table: Table, path: Path) -> str | None:
    """The own column that points at the table, if each of its rows has a name of its own there."""
    link = path[0]
    is_key = column.kind == "text" and (column.name,) in table.keys
    has_partner = link.known == "proven" or link.orphans == 0  # what points at nothing has no name
    return link.columns[0] if is_key and has_partner and len(path) == len(link.columns) == 1 else None


def _called(column: Described, table: Table, path: Path, taken: set[str]) -> str:
    """Its own name; with the table's, or the path's where there are several, if it says little by itself."""
    words = split_name(column.name)
    telling = [word for word in words if word not in NAMING and stem(word) not in GENERIC]
    if not path and telling and column.name not in taken:
        return column.name
    name = " ".join((*_noun(table, path), *words))[:LONGEST_NAME]
    return name if name not in taken else next(n for n in (f"{name} {i}" for i in count(2)) if n not in taken)


def _joined(column: Described, table: Table, path: Path) -> Joined:
    """Category of the products is the product category."""
    words = tuple(map(stem, split_name(column.name)))
    noun = tuple(map(stem, _noun(table, path)))
    names = {(*noun, *words), (*noun[-1:], *words)} if not {*noun} & {*words} else set()
    return Joined(frozenset(names), frozenset(noun))


def _noun(table: Table, path: Path) -> tuple[str, ...]:
    words = split_name(path[-1].columns[0]) if path else split_name(table.name)
    kept = [word for word in words if word not in IDENTIFYING] or [*words]
    return (*kept[:-1], singular(kept[-1]))


def over_tables(reading: Reading, wide: Wide) -> Reading:
    """The reading over several tables; raises DoesNotCompose if it measures what several rows share."""
    used: set[str] = set()
    requirements = []
    for requirement in reading.requirements:
        made = _over(requirement, wide)
        used |= {getattr(node, "table", None) or "" for node in foreign(made.value, wide.table.name)}
        requirements.append(made)
    if any(_repeats(r.value) for r in requirements):
        raise DoesNotCompose("several rows share what is measured")
    if not any(_is_own(r.value, wide) for r in requirements):
        raise DoesNotCompose("nothing is said of its own rows")
    tables = (wide.table.name, *sorted(used))
    said = [r for r in requirements if not (r.implied and isinstance(r.value, AnalysisAsked | OutputAsked))]
    intents = (Intent(name=intent_of(said), confidence=1.0),)
    return reading.model_copy(update={"tables": tables, "requirements": with_implied(said), "intents": intents})


def _is_own(value: Contract, wide: Wide) -> bool:
    """Whether it is about the rows of the table itself, and not only about what they point at."""
    match value:
        case Metric(column=None, expression=None):
            return True
        case Rank() | OutputAsked() | AnalysisAsked():
            return False
    names = {getattr(value, "column", None), *getattr(value, "columns", ()), *getattr(value, "keys", ())}
    return bool(names - wide.of.keys() - {None}) or any(map(_has_own, parts(value)))


def _has_own(node: Contract) -> bool:
    if isinstance(node, Column):
        return node.table is None
    return isinstance(node, Rows | Related) or any(map(_has_own, parts(node)))


def _over(requirement: Requirement, wide: Wide) -> Requirement:
    value: Any = requirement.value
    match value:
        case Metric(column=str() as column) if column in wide.of:
            name = value.name or f"{value.function or value.usual or 'sum'} of {column}"
            value = Metric(expression=_put(measure_of(value), wide.of), name=name)
        case GroupBy(column=column, expression=None) if column in wide.of:
            value = value.model_copy(update={"expression": wide.of[column]})
        case Time(column=column, grain=grain) if column in wide.of:
            cut = DateCut(of=wide.of[column], grain=grain or _grain(wide.table.find(column)))
            return requirement.model_copy(
                update={
                    "id": f"group_by:{column}",
                    "value": GroupBy(column=column, expression=cut, ordered=True),
                }
            )
        case Filter() if columns_of(of_filter(value)) & wide.of.keys():
            value = Filter(condition=_put(of_filter(value), wide.of))
        case Rank(by=Column()):
            pass  # a column of the result
        case ColumnsAsked(columns=columns):
            computed = tuple(EachMeasure(name=name, expression=wide.of[name]) for name in columns if name in wide.of)
            value = value.model_copy(update={"computed": computed})
        case Each(keys=keys) if {*keys} & wide.of.keys():
            raise DoesNotCompose("things of another table")
        case _:
            value = _put(value, wide.of)
    return requirement.model_copy(update={"value": value})


def _put(node: Any, of: Mapping[str, Expression]) -> Any:
    match node:
        case Column(name=name, table=None):
            return of.get(name, node)
        case Column() | Related():
            return node
    return mapped(node, lambda part: _put(part, of))


def _repeats(value: Contract) -> bool:
    """Whether a measure is of values that the rows of another table have, and none of their own."""
    nodes = [getattr(value, name, None) for name in ("expression", "condition", "by")]
    nodes += [measure.expression for measure in getattr(value, "measures", ())]
    measures = [part for node in nodes if node is not None for part in walk(node) if isinstance(part, Aggregate)]
    return any(
        not columns_of(measure.of) and _is_foreign(measure.of) and measure.function not in DUPLICATE_PROOF
        for measure in measures
    )


def _is_foreign(node: Expression) -> bool:
    return any(True for _ in foreign(node, ""))


def _grain(column: Described | None) -> Grain:
    """By the span of the dates, where the question names no grain."""
    first, last = (str(end or "")[:4] for end in ((column.least, column.greatest) if column else ("", "")))
    return "year" if first.isdigit() and last.isdigit() and int(last) - int(first) >= 8 else "month"
