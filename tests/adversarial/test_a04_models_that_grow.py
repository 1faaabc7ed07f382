"""A small model file stays small when it is read: aliases, metrics that name metrics, links to devices."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

import pytest

from groundplan.errors import SourceError, UsageError
from groundplan.settings import FILE, load_settings
from groundplan.sources.tables.source import Tables
from groundplan.text.located_yaml import File, whole
from tests.adversarial.limited import opened, run

MOST, SOON = 900, 20.0  # MB; seconds of work in another process, which begins with half a dozen of imports
LEVELS = 24  # sixteen million parts, written out
IMPORTED = """
import asyncio, time
from groundplan.errors import GroundplanError
from groundplan.sources.tables.importing.read import import_models
from groundplan.sources.tables.source import Tables
from pathlib import Path
begin = time.process_time()
schema = asyncio.run(Tables.open(Path({data!r})).describe())
try:
    text, lint = import_models(Path({models!r}), schema, Path({data!r}) / "none.yaml")
    print("LINT", len(text), *lint, sep="\\n")
except GroundplanError as error:
    print("REFUSED", error)
print("SECONDS", time.process_time() - begin)
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "orders.csv").write_text("id,amount\n1,3\n2,4\n")
    return folder


def aliases(levels: int) -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, levels)]
    return "\n".join(lines)


def doubled(levels: int) -> str:
    metrics = [{"name": "m0", "expression": "SUM(orders.amount)"}]
    metrics += [{"name": f"m{n}", "expression": f"m{n - 1} + m{n - 1}"} for n in range(1, levels)]
    listed = "".join(f"  - {{name: {one['name']}, expression: {one['expression']}}}\n" for one in metrics)
    return f"semantic_model:\n- name: shop\n  datasets: [{{name: orders, source: orders}}]\n  metrics:\n{listed}"


def opens(data: Path, text: str) -> str:
    (data / "semantic_model.yaml").write_text(text)
    done = opened(data)
    assert done.code == 0, done.text
    assert done.peak < MOST
    return done.text


@pytest.mark.requirement("R89", part="depth")
def test_aliases_of_aliases_are_refused(data: Path) -> None:
    text = opens(data, aliases(9))
    assert "REFUSED" in text
    assert "aliases stand for more than 10,000 values" in text


def test_many_aliases_of_one_large_value_are_refused(tmp_path: Path) -> None:
    problems: list[str] = []
    text = f"a: &a [{', '.join('x' * 200)}]\nb: [{', '.join(['*a'] * 100)}]\n"
    assert whole(File(tmp_path / "m.yaml", text.encode()), problems) is None
    assert [problem.partition(" values")[0] for problem in problems] == [
        f"{tmp_path / 'm.yaml'}:2: aliases stand for more than 10,000"
    ]


def test_a_long_chain_of_aliases_is_refused(tmp_path: Path) -> None:
    problems: list[str] = []
    text = "a0: &a0 [x]\n" + "\n".join(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 1_000))
    assert whole(File(tmp_path / "m.yaml", text.encode()), problems) is None
    assert ":6: aliases stand for" in problems[0]


def test_an_ordinary_alias_is_read(tmp_path: Path) -> None:
    problems: list[str] = []
    found = whole(File(tmp_path / "m.yaml", b"a: &a {x: 1}\nb: *a\nc: *a\n"), problems)
    assert not problems
    assert found is not None
    assert found.value == {"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 1}}


def test_metrics_that_double_are_refused(data: Path) -> None:
    text = opens(data, doubled(LEVELS))
    assert "REFUSED" in text
    assert "the expression takes more than 2,000 nodes" in text


def test_metrics_that_name_metrics_are_read(data: Path) -> None:
    assert "OPENED 1" in opens(data, doubled(4))


@pytest.mark.parametrize(
    "expression",
    [
        "+".join(["SUM(orders.amount)"] * 3_000),
        "(" * 3_000 + "SUM(orders.amount)" + ")" * 3_000,
        "SUM(" + "-" * 3_000 + "orders.amount)",
        "SUM(orders.amount) FILTER (WHERE " + " AND ".join(["orders.id = 1"] * 2_000) + ")",
        "NOT " * 5_000 + "orders.id",
        "SUM(CASE WHEN orders.id = 1 THEN " * 500 + "orders.amount" + " END)" * 500,
        "SUM(orders.amount" + "\\u0000" + ")",
        "SUM(orders.amount) +",
        "x" * 100_000,
        "1e999 * SUM(orders.amount)",
        "SUM(orders.id IN (SELECT 1))",
        "COUNT(DISTINCT orders.id, orders.amount)",
        "SUM(orders.amount)::VARCHAR",
    ],
    ids=range(13),
)
def test_a_strange_expression_is_named(expression: str, data: Path) -> None:
    (data / "semantic_model.yaml").write_text(doubled(1).replace("SUM(orders.amount)", f'"{expression}"'))
    with pytest.raises(SourceError, match="metric 'm0'"):
        asyncio.run(Tables.open(data).describe())


def cube(levels: int) -> str:
    listed = [f"    - {{name: m{n}, type: number, sql: '{{m{n - 1}}} + {{m{n - 1}}}'}}" for n in range(1, levels)]
    first = "cubes:\n- name: orders\n  sql_table: orders\n  measures:\n    - {name: m0, type: sum, sql: amount}\n"
    return first + "\n".join(listed)


def dbt(levels: int) -> str:
    model = (
        "semantic_models:\n- name: orders\n  model: ref('orders')\n"
        "  entities: [{name: order, type: primary, expr: id}]\n  measures: [{name: amount, agg: sum}]\n"
        "metrics:\n- {name: m0, type: simple, type_params: {measure: amount}}\n"
    )
    each = "- {{name: m{}, type: derived, type_params: {{expr: m{} + m{}, metrics: [m{}]}}}}"
    return model + "\n".join(each.format(n, n - 1, n - 1, n - 1) for n in range(1, levels))


def lightdash(levels: int) -> str:
    first = "models:\n- name: orders\n  meta:\n    metrics:\n      m0: {type: sum, sql: amount}\n"
    return first + "\n".join(
        f"      m{n}: {{type: number, sql: '${{m{n - 1}}} + ${{m{n - 1}}}'}}" for n in range(1, levels)
    )


@pytest.mark.parametrize("write", [cube, dbt, lightdash])
def test_imported_measures_that_double_are_listed(write: object, data: Path, tmp_path: Path) -> None:
    assert callable(write)
    models = tmp_path / "models.yml"
    models.write_text(write(LEVELS))
    done = run(IMPORTED.format(data=str(data), models=str(models)))
    assert done.code == 0, done.text
    assert "the expression takes more than 2,000 nodes" in done.text
    assert done.peak < MOST
    assert float(done.text.partition("SECONDS ")[2].split()[0]) < SOON


@pytest.mark.skipif(sys.platform != "linux", reason="devices")
def test_links_to_devices_are_not_followed(data: Path, tmp_path: Path) -> None:
    models = tmp_path / "models"
    models.mkdir()
    (models / "endless.yml").symlink_to("/dev/zero")
    os.mkfifo(models / "pipe.yml")
    (models / "cubes.yml").write_text(cube(2))
    begin = time.monotonic()
    done = run(IMPORTED.format(data=str(data), models=str(models)), seconds=100)
    assert done.code == 0, done.text
    assert done.text.count("is not read: it is no regular file") == 2
    assert done.peak < MOST
    assert time.monotonic() - begin < 100


@pytest.mark.skipif(os.name != "posix", reason="pipes")
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_settings_behind_a_pipe_are_refused_at_once(kind: str, tmp_path: Path) -> None:
    """A pipe hung for ever."""
    if kind == "pipe":
        os.mkfifo(tmp_path / FILE)
    else:
        (tmp_path / FILE).symlink_to("/dev/zero")
    with pytest.raises(UsageError, match="it is no regular file"):
        load_settings(tmp_path)


@pytest.mark.skipif(os.name != "posix", reason="pipes")
def test_a_table_behind_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "sales.csv")
    with pytest.raises((SourceError, UsageError), match=r"sales\.csv"):
        Tables.open(tmp_path / "sales.csv")
