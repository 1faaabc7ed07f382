"""Renders facts deterministically in one of four styles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from groundplan.answering.verifying.artefacts import without_artefacts
from groundplan.answering.writing.citing import Cites, is_number, placed
from groundplan.answering.writing.display import escaped, exact, named, percent, with_unit
from groundplan.answering.writing.ends import of_steps
from groundplan.answering.writing.forms import Sentence
from groundplan.answering.writing.phrases import headed
from groundplan.answering.writing.text import text_of
from groundplan.contracts.answer import Citation, ShownTable
from groundplan.contracts.contract import Language, Scalar
from groundplan.contracts.facts import Facts, Group, Item, TableColumn
from groundplan.contracts.plan import Limits
from groundplan.contracts.reading import RenderStyle

Content = tuple[str, Scalar, str]
OF_TABLES = frozenset({"grain", "trend", "correlation", "count"})
"""Items that only explain a table; the sentences about the table repeat them."""


def render(
    facts: Facts, shown: Mapping[str, ShownTable], style: RenderStyle, limits: Limits, language: Language
) -> str:
    """Items and groups in the given style, and tables as Markdown, complete up to the limits."""
    listed, _ = text_of(list(rendered(facts, style, limits, language)), language)
    refs = facts.tables or {step: chart.table for step, chart in facts.charts.items()}
    tables = [markdown(shown[step], ref.columns, limits.items, language) for step, ref in refs.items()]
    return "\n\n".join(part for part in (listed, *tables) if part)


def rendered(facts: Facts, style: RenderStyle, limits: Limits, language: Language) -> Iterator[Sentence]:
    """The items and groups, line by line, as rows of tables or, for SHORT, sentence by sentence."""
    tabular = style == "TABLE" and not (facts.tables or facts.charts or facts.steps)
    form = "row" if tabular else "short" if style == "SHORT" else "item"
    yield from _listed(told(facts), "facts.items", form, limits.items, language)
    _, of_a_step = of_steps(facts)
    for number, group in enumerate(facts.groups[: limits.groups]):
        if number not in of_a_step:
            yield from group_sentences(group, number, form, limits, language)
    if len(facts.groups) > limits.groups:
        yield more("facts.groups", len(facts.groups), limits.groups, language)


def group_sentences(group: Group, number: int, form: str, limits: Limits, language: Language) -> Iterator[Sentence]:
    path = f"facts.groups.{number}"
    yield Sentence("group", dict(_heading(group, path, language)))
    yield from _listed(dict(enumerate(group.items)), f"{path}.items", form, limits.items, language)
    if group.count is not None and group.count > len(group.items):
        yield more(f"{path}.count", group.count, len(group.items), language)


def _heading(group: Group, path: str, language: Language) -> Iterator[tuple[str, Cites]]:
    yield "title", placed(without_artefacts(headed(group.title, language)), f"{path}.title", group.title)
    if group.count is not None:
        yield "count", placed(exact(group.count, language), f"{path}.count", group.count)


def told(facts: Facts) -> dict[int, Item]:
    """The items that are facts by themselves, by index."""
    explaining = OF_TABLES if facts.tables or facts.charts else frozenset()
    of_a_step, _ = of_steps(facts)
    free = ((place, item) for place, item in enumerate(facts.items) if place not in of_a_step)
    return {place: item for place, item in free if item.kind not in explaining}


def markdown(table: ShownTable, columns: Sequence[TableColumn], most: int, language: Language) -> str:
    kinds = {column.name: column for column in columns}
    numeric = [kinds[name].kind == "number" if name in kinds else False for name in table.columns]
    lines = [
        _row(map(escaped, table.columns)),
        _row("---:" if number else "---" for number in numeric),
        *(_row(_cells(row, table.columns, kinds, language)) for row in table.rows[:most]),
    ]
    if table.row_count > most:
        rest = exact(table.row_count - most, language)
        lines += ["", f"…and {rest} more." if language == "en" else f"…и ещё {rest}."]
    return "\n".join(lines)


def distinct(items: Iterable[Item]) -> dict[Content, Item]:
    """Items without duplicates; items without a title are dropped."""
    found: dict[Content, Item] = {}
    for item in items:
        title = without_artefacts(item.title)
        if title:
            found.setdefault((title.casefold(), item.value, without_artefacts(item.text).casefold()), item)
    return found


def _listed(items: Mapping[int, Item], path: str, form: str, most: int, language: Language) -> Iterator[Sentence]:
    places = {id(item): place for place, item in items.items()}
    fresh = list(distinct(items.values()).values())
    if form == "row" and fresh:
        form = "row" if any(item.text or item.value is not None for item in fresh) else "name_row"
        yield Sentence(f"{form}s", {})
    for item in fresh[:most]:
        yield item_sentence(item, f"{path}.{places[id(item)]}", form, language)
    if len(fresh) > most:
        yield more(path, len(fresh), most, language)


def item_sentence(item: Item, path: str, form: str, language: Language) -> Sentence:
    title, text = without_artefacts(item.title), without_artefacts(item.text)
    if form in ("row", "name_row"):
        title, text = escaped(title), escaped(text)
    if form == "short":
        title = title.rstrip(".") or title  # the form has a full stop
    slots: dict[str, Cites] = {"title": placed(title, f"{path}.title", item.title)}
    if text:
        slots["text"] = placed(text, f"{path}.text", item.text)
    if item.value is None:
        return Sentence(f"{form}_of_text" if text else form, slots)
    number = exact(item.value, language) if is_number(item.value) else named(item.value, language, is_time=True)
    shown = with_unit(number, item.unit, language)
    return Sentence(form, {**slots, "value": placed(shown, f"{path}.value", item.value)})


def more(path: str, count: int, most: int, language: Language) -> Sentence:
    rest = count - most
    cited = Citation(text=exact(rest, language), fact=f"derived:rest({path}, {most})", value=rest)
    return Sentence("more", {"count": (cited,)})


def _cells(
    row: Sequence[Scalar], names: Sequence[str], kinds: Mapping[str, TableColumn], language: Language
) -> Iterator[str]:
    for value, name in zip(row, names, strict=True):
        column = kinds.get(name)
        if value is None:
            yield ""
        elif is_number(value) and (column is None or (column.kind, column.grain) == ("number", None)):
            yield percent(value, language, fine=True) if column and column.ratio else exact(value, language)
        else:
            time = column is not None and column.kind == "time"
            yield escaped(named(value, language, column.grain if column else None, is_time=time))


def _row(cells: Iterator[str] | map[str]) -> str:
    return f"| {' | '.join(cells)} |"
