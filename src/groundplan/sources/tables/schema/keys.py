"""Finds keys and foreign keys; the engine verifies both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from groundplan.contracts.relationship import Relationship
from groundplan.contracts.schema import Column, Table
from groundplan.sources.tables.engine.handle import Ask, Handle
from groundplan.sources.tables.files.text_values import CODES
from groundplan.sources.tables.schema.samples import POINTERS, Sample
from groundplan.text.names import singular, split_name

MOST_ROWS_FOR_PAIRS = 1_000_000
MOST_PAIRS_TRIED = 6
LONG = 4  # letters: a key with more may end a word, as in billingcustomerid
MOST_ORPHANS = 0.02  # of the values of a proposed relationship


def find_keys(handle: Handle, columns: Sequence[Column], rows: int, ask: Ask) -> tuple[tuple[str, ...], ...]:
    """Single-column keys; pairs of columns only if there are none."""
    if rows == 0:
        return ()
    likely = [column for column in columns if column.nulls == 0 and column.kind in ("number", "text", "time")]
    likely = [column for column in likely if column.role != "measure" or _whole(handle, column)]
    single = [(column.name,) for column in likely if _unique(handle, column, rows, ask)]
    if single or rows > MOST_ROWS_FOR_PAIRS:
        return tuple(single)
    return tuple(_pairs(handle, [column for column in likely if column.role != "measure"], rows, ask))


def find_relationships(
    tables: Sequence[Table],
    handles: Mapping[str, Handle],
    samples: Mapping[str, Sample],
    ask: Ask,
    proven: Sequence[Relationship] = (),
    declared: Sequence[Relationship] = (),
) -> tuple[tuple[Relationship, ...], tuple[Relationship, ...]]:
    """The foreign keys of the database; for other columns, candidates that the values confirm: those that are declared
    and not enforced, and those by name. In a database with foreign keys, the key of a table points nowhere else.

    Apart from them, the candidates that point at a column of a large table which only seems to be its key.
    """
    places = {(table.name, c.name): place for table in tables for place, c in enumerate(table.columns)}
    known = {table.name for table in tables if table.columns}
    given = [link for link in proven if {link.table, link.to_table} <= known]
    given.sort(key=lambda link: (link.table, places.get((link.table, link.columns[0]), 0)))
    taken = {(link.table, link.columns) for link in given}
    taken |= {(table.name, key) for table in tables for key in table.keys if given}
    stated = [link.model_copy(update={"known": "proposed"}) for link in declared]
    stated = [link for link in stated if {link.table, link.to_table} <= known]
    named = {(link.table, link.columns) for link in stated}
    keys = {table.name: (*table.keys, *_seeming(table, samples)) for table in tables}
    likely = [*stated, *(link for link in _likely(tables, keys) if (link.table, link.columns) not in named)]
    likely = [link for link in likely if (link.table, link.columns) not in taken]
    identifying = {(table.name, key) for table in tables for key in table.keys}
    unproven = tuple(link for link in likely if (link.to_table, link.to_columns) not in identifying)
    found = (confirmed(link, handles, samples, ask) for link in likely if link not in unproven)
    return (*given, *(link for link in found if link is not None)), unproven


def is_key(handle: Handle, column: str, ask: Ask) -> bool:
    """True if each row has a value of its own there: all rows are read."""
    values = handle.table[column]
    found = ask(handle.table.aggregate(rows=handle.table.count(), distinct=values.nunique(), held=values.count()))[0]
    return bool(found["rows"] == found["distinct"] == found["held"])


def _seeming(table: Table, samples: Mapping[str, Sample]) -> Iterator[tuple[str, ...]]:
    """Columns of a large table that repeat no value in its sample, which proves nothing."""
    sample = samples.get(table.name)
    if sample is not None and not any(len(key) == 1 for key in table.keys):
        yield from ((column.name,) for column in table.columns if column.name in sample.unrepeated)


def _likely(tables: Sequence[Table], keys: Mapping[str, Sequence[tuple[str, ...]]]) -> Iterator[Relationship]:
    """By names. Of several targets of one column, those that are called like it: customers for customer_id."""
    for table in tables:
        pointers: dict[tuple[str, ...], list[Relationship]] = {}
        for other in (other for other in tables if other.name != table.name):
            for key in keys[other.name]:
                for columns in _pointers(table, other.name, key):
                    link = Relationship(table=table.name, columns=columns, to_table=other.name, to_columns=key)
                    pointers.setdefault(columns, []).append(link)
        for links in pointers.values():
            yield from _namesakes(links) or links


def _pointers(table: Table, other: str, key: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The columns of `table` that may hold the key of the other; a key of several columns is called the same."""
    if len(key) == 1:
        for column in table.columns:
            if _points(column.name, other, key[0]) or _is_same_key(column, table, other, key[0]):
                yield (column.name,)
    elif {*key} <= {column.name for column in table.columns} and key not in table.keys:
        yield key


def _is_same_key(column: Column, table: Table, other: str, key: str) -> bool:
    """`lines.sku` for `products.sku`, `sales.region` for `regions.region`: a code, or what the other table is about,
    that tells the rows there repeats here under the same name."""
    about = _singular(split_name(other)) == _singular(split_name(key))
    return column.name == key and (about or bool(CODES & {*split_name(key)})) and (key,) not in table.keys


def _singular(words: Sequence[str]) -> tuple[str, ...]:
    return (*words[:-1], singular(words[-1])) if words else ()


def _namesakes(links: Sequence[Relationship]) -> list[Relationship]:
    """`customer_id` is the key of customers, also where customer_notes has that column as its key."""
    named = [
        link
        for link in links
        if any(_is_named_for(name, link.to_table) for name in (link.columns[-1], link.to_columns[-1]))
    ]
    names = {link.to_table: "".join(split_name(link.to_table)) for link in named}
    return [
        link
        for link in named
        if not any(names[link.to_table].startswith(name) for name in names.values() if name != names[link.to_table])
    ]


def _is_named_for(column: str, table: str) -> bool:
    """`customer_id`, `customerid` and `cid` for customers."""
    *words, last = split_name(column)
    target = split_name(table)
    if not words:
        start = last.removesuffix("id")
        return bool(start) and start != last and "".join(target).startswith(start)
    return tuple(words[-len(target) :]) in (target, (*target[:-1], singular(target[-1])))


def _whole(handle: Handle, column: Column) -> bool:
    return bool(handle.table[column.name].type().is_integer())


def _unique(handle: Handle, column: Column, rows: int, ask: Ask) -> bool:
    if rows <= MOST_ROWS_FOR_PAIRS:
        return column.cardinality == rows
    if column.cardinality is None or column.cardinality < 0.7 * rows:  # an estimate, which may be inaccurate
        return False
    exact = ask(handle.table.aggregate(distinct=handle.table[column.name].nunique()))[0]
    return bool(exact["distinct"] == rows)


def _pairs(handle: Handle, columns: Sequence[Column], rows: int, ask: Ask) -> Iterator[tuple[str, ...]]:
    large = sorted(columns, key=lambda column: -(column.cardinality or 0))
    enough = [
        pair for pair in combinations(large, 2) if (pair[0].cardinality or 0) * (pair[1].cardinality or 0) >= rows
    ]
    for pair in enough[:MOST_PAIRS_TRIED]:
        names = tuple(column.name for column in pair)
        distinct = handle.table.select(list(names)).distinct()
        if ask(distinct.aggregate(rows=distinct.count()))[0]["rows"] == rows:
            yield tuple(column.name for column in columns if column.name in names)


def _points(column: str, table: str, key: str) -> bool:
    """`customer_id` points to `customers.id`; `billing_customer_id` points to `customers.customer_id`; `customerid`
    and `cid` to a column of that name."""
    given, wanted = split_name(column), split_name(key)
    if len(wanted) == 1:
        if _is_named_for(key, table) and (given == wanted or (len(key) > LONG and given[-1].endswith(wanted[0]))):
            return True
        wanted = (*split_name(table), *wanted)
        alone = (*wanted[:-2], singular(wanted[-2]), wanted[-1])
        return given[-len(wanted) :] in (wanted, alone)
    return given[-len(wanted) :] == wanted


def confirmed(
    link: Relationship, handles: Mapping[str, Handle], samples: Mapping[str, Sample], ask: Ask
) -> Relationship | None:
    """With the number of its orphans, unless a table is too large to count them; None where the values are others."""
    child, parent = handles[link.table], handles[link.to_table]
    pairs = [*zip(link.columns, link.to_columns, strict=True)]
    if any(child.kind(column) != parent.kind(key) for column, key in pairs):
        return None
    if {link.table, link.to_table} & samples.keys():
        return link if len(pairs) == 1 and _points_there(link, child, parent, samples, ask) else None
    names = [f"value_{place}" for place in range(len(pairs))]
    values = child.table.select(**{n: child.table[c] for n, (c, _) in zip(names, pairs, strict=True)})
    values = values.filter([values[name].notnull() for name in names]).distinct()
    known = parent.table.select(**{f"known_{n}": parent.table[k] for n, (_, k) in zip(names, pairs, strict=True)})
    lone = values.anti_join(known, [values[name] == known[f"known_{name}"] for name in names])
    orphans = ask(lone.aggregate(number=lone.count()))[0]["number"]
    if orphans and orphans > MOST_ORPHANS * ask(values.aggregate(number=values.count()))[0]["number"]:
        return None
    return link.model_copy(update={"orphans": orphans})


def _points_there(link: Relationship, child: Handle, parent: Handle, samples: Mapping[str, Sample], ask: Ask) -> bool:
    """True if nearly all of some values of the column are found in the other table."""
    own = child.table[link.columns[0]]
    if link.table in samples:
        some = samples[link.table].pointers.get(link.columns[0], ())
    else:
        first = child.table.select(value=own).filter(own.notnull()).distinct().limit(POINTERS)
        some = tuple(row["value"] for row in ask(first))
    key = parent.table[link.to_columns[0]]
    found = parent.table.filter(key.isin(some)).aggregate(number=key.nunique()) if some else None
    missing = len(some) - (ask(found)[0]["number"] if found is not None else 0)
    return bool(some) and missing <= MOST_ORPHANS * len(some)
