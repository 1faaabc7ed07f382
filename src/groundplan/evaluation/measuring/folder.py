"""A folder of made-up tables and questions, in the format of the suite `questions`."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

from groundplan.evaluation.measuring import tables
from groundplan.evaluation.measuring.tables import Table, Trade, load_words

Slots = dict[str, Any]


def write_folder(folder: Path, seed: int) -> None:
    """Write the tables and about 40 questions; the same seed writes the same."""
    random, lines = Random(seed), list[str]()
    trades = {name: tables.english_trade(name, random) for name in ("events", "places", "jobs")}
    trades["russian"] = tables.russian_trade("russian", random)
    made = {
        "events": (tables.events(trades["events"], random),),
        "places": tables.places(trades["places"], random),
        "jobs": (tables.jobs(trades["jobs"], random),),
        "russian": (tables.russian_events(trades["russian"], random),),
    }
    for name, found in made.items():
        (folder / name).mkdir()
        for table in found:
            table.write(folder / name)
        lines += _questions(name, _slots(name, trades[name], found, random), random)
    (folder / "questions.jsonl").write_text("\n".join(lines), encoding="utf-8")


def _questions(name: str, slots: Slots, random: Random) -> list[str]:
    lines = []
    for number, one in enumerate(load_words("questions.yaml")[name], 1):
        line = {"id": f"{name}-{number:02}", "dataset": name, "question": random.choice(one["ask"]).format(**slots)}
        line["expect"] = "answer" if "sql" in one else "ask" if "readings" in one else "refuse"
        line |= {key: one[key].format(**slots) for key in ("sql",) if key in one}
        line |= {key: [sql.format(**slots) for sql in one.get(key, ())] for key in ("accept", "readings")}
        lines.append(json.dumps(line | {"ordered": one.get("ordered", False)}, ensure_ascii=False))
    return lines


def _slots(name: str, trade: Trade, found: tuple[Table, ...], random: Random) -> Slots:
    """What the questions of a data set are filled with: names of tables and columns, values, periods, numbers."""
    words, table = trade.words, found[-1]
    month = random.randint(1, 12)
    slots = {**words, "t": table.name, "year": random.choice(tables.YEARS), "month": month}
    slots["of_month"] = load_words("words.yaml")["months"][month - 1]
    slots["where"] = random.choice(trade.places)
    slots["sort"], slots["other"] = random.sample(trade.kinds, 2)
    if name == "russian":
        return slots | {"limit": _between(table, words["worker"])}
    slots |= {"said": words["amount"], "amount": words["amount_column"], "counted": words["count"]}
    slots["count"] = words["count_column"]
    if name == "events":
        return slots | {"id": table.columns[0], "day": table.columns[1], "limit": _between(table, words["worker"])}
    if name == "places":
        key, label = found[0].columns[:2]
        slots |= {"p": found[0].name, "key": key, "name": label, "day": table.columns[2], "limit": _between(table, key)}
        return slots | {"region": random.choice(trade.regions), "code": random.choice(tables.CODES)}
    return slots


def _between(table: Table, column: str) -> int:
    """A number of rows that some values of the column exceed, and others do not reach."""
    place = table.columns.index(column)
    counts = sorted(Counter(row[place] for row in table.rows).values())
    return counts[len(counts) // 2] - 1
