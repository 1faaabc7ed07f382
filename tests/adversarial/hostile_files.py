"""Files made to cost as much as possible or to crash a reader: every kind that is opened, by chance from a seed."""

from __future__ import annotations

import gzip
import random
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
from openpyxl import Workbook
from pyarrow import parquet

CELLS = (
    "", "a", "1", "-0", "1e999", "nan", "inf", "9" * 400, "2024-02-30", "10000-01-01", "=cmd()", '"', "'", "\\", ",",
    "\u202e", "\ufeff", "\u0000", "x" * 70_000, "true", "NULL", "1,5", "01.02.03", "{}", "[1]", "\r", "\n", "ё" * 999,
)  # fmt: skip
Chance = random.Random
Kind = Callable[[Chance, Path], Path]


def csv_file(chance: Chance, folder: Path) -> Path:
    columns = chance.choice((1, 3, 30, 501, 1_999, 2_500))
    rows = chance.choice((0, 1, 50, 3_000)) if columns < 100 else chance.choice((0, 1, 20))
    mark, quote = chance.choice((",", ";", "\t", "|")), chance.choice(("", '"'))
    lines = [_line(chance, chance.choice((columns, columns, columns + 1, 1)), mark, quote) for _ in range(rows + 1)]
    return _written(folder / "data.csv", chance.choice(("\n", "\r\n", "\r")).join(lines), chance)


def _line(chance: Chance, columns: int, mark: str, quote: str) -> str:
    cells = chance.choices(CELLS if columns < 40 else CELLS[:7], k=columns)
    return mark.join(f"{quote}{cell}{quote}" for cell in cells)


def _written(path: Path, text: str, chance: Chance) -> Path:
    code = chance.choice(("utf-8", "utf-8", "utf-16", "cp1251"))
    content = text.encode(code, "replace")
    if chance.random() < 0.2:
        content = bytes(byte if chance.random() < 0.999 else chance.randrange(256) for byte in content[:200_000])
    path.write_bytes(content)
    return path


def parquet_file(chance: Chance, folder: Path) -> Path:
    path, rows = folder / "data.parquet", chance.choice((0, 1, 1_000, 200_000))
    text = chance.choice(CELLS).encode("utf-8", "replace").decode()[: 40_000_000 // (rows + 1)]
    columns = {
        "texts": pa.array([text] * rows, pa.string()),
        "odd": pa.array([chance.choice((float("nan"), float("inf"), 1e308, None)) for _ in range(rows)], pa.float64()),
        chance.choice(("", " ", "a\nb", '"; drop table t; --', "x" * 300, "texts ")): pa.array(range(rows), pa.int64()),
        "nested": pa.array([[{"a": [1, None]}]] * rows),
        "days": pa.array([chance.choice((0, -719_528, 2_932_896, 2**30)) for _ in range(rows)], pa.date32()),
    }
    parquet.write_table(pa.table(columns), path, compression=chance.choice(("zstd", "none", "gzip")))
    return _broken(chance, path)


def _broken(chance: Chance, path: Path) -> Path:
    """The same file, or cut, or with some bytes changed."""
    how, content = chance.random(), bytearray(path.read_bytes())
    if how < 0.2:
        path.write_bytes(content[: chance.randrange(len(content))])
    elif how < 0.5:
        for _ in range(chance.randint(1, 30)):
            content[chance.randrange(len(content))] = chance.randrange(256)
        path.write_bytes(content)
    return path


def xlsx_file(chance: Chance, folder: Path) -> Path:
    path, book = folder / "data.xlsx", Workbook()
    sheet = book.active
    assert sheet is not None
    for _ in range(chance.choice((1, 30, 300))):
        row, column = chance.choice((1, 2, 3, 99, 5_000, 1_048_576)), chance.choice((1, 2, 3, 40, 16_384))
        cell = chance.choice([cell for cell in CELLS if cell.isprintable() and len(cell) < 30_000])
        sheet.cell(row, column, cell)
    if chance.random() < 0.3:
        sheet.merged_cells.add("A1:XFD1048576")  # `merge_cells` would make each of its cells
    book.save(path)
    if chance.random() < 0.2:
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr("xl/worksheets/sheet1.xml", "<a>" * chance.choice((10, 100_000)))
    return _broken(chance, path)


def model_file(chance: Chance, folder: Path) -> Path:
    """A model file beside the data: aliases, deep lists, formulas that double, odd scalars."""
    (folder / "sales.csv").write_text("region,revenue\nWest,1\nEast,2\n" * 20)
    doubled = "\n".join(f"  - name: m{n + 1}\n    formula: m{n} + m{n}" for n in range(chance.choice((2, 30))))
    texts = (
        "a: &a [x, x, x, x, x, x, x, x, x]\n"
        + "\n".join(f"k{n}: &k{n} [*a, *a, *a, *a, *a, *a, *a]" for n in range(9)),
        "tables: " + "[" * chance.choice((10, 10_000)) + "]" * 10,
        f"measures:\n  - name: m0\n    formula: revenue\n{doubled}\n",
        "measures:\n  - name: m\n    formula: " + "(" * chance.choice((5, 3_000)) + "revenue",
        "metrics: {" + ", ".join(f"a{n}: {n}" for n in range(chance.choice((3, 5_000)))) + "}",
        "tables: !!python/object/apply:os.system ['touch owned']",
        "? [a, b]\n: {c: d}\n2024-99-99: .inf\n? .nan\n: ~",
    )
    name = chance.choice(("semantic_model.yaml", "semantic_model.yml"))
    _written(folder / name, chance.choice(texts), chance)
    return folder


def triples(chance: Chance, folder: Path) -> Path:
    parts = ("a", "works_on", "x" * 200, "", "\u202e", "b c", '"', "ё")
    lines = [
        "\t".join(chance.choices(parts, k=chance.choice((3, 3, 3, 2, 4)))) for _ in range(chance.choice((1, 9_000)))
    ]
    text = "\n".join(lines)
    if chance.random() < 0.5:
        (folder / "triples.tsv.gz").write_bytes(gzip.compress(text.encode() * chance.choice((1, 40)), 1))
    else:
        _written(folder / "triples.tsv", text, chance)
    return folder


def documents(chance: Chance, folder: Path) -> Path:
    """A folder of documents with a graph beside them."""
    (folder / "triples.tsv").write_text("ada\tworks_on\tparser\nben\tworks_on\tparser\n")
    (folder / "documents").mkdir()
    texts = ("# " * 40_000, "```" * 20_000, "[a](" * 20_000, "- " * 50_000 + "\n" * 50_000, "|" * 90_000, "a" * 300_000)
    for number in range(chance.choice((1, 20))):
        path = folder / "documents" / f"{number}.{chance.choice(('md', 'txt', 'html'))}"
        _written(path, chance.choice((*texts, *CELLS)), chance)
    return folder


KINDS: tuple[Kind, ...] = (csv_file, parquet_file, xlsx_file, model_file, triples, documents)


def written(count: int, seed: int, folder: Path) -> list[Path]:
    """This many files or folders, of each kind in turn; each has a folder of its own."""
    chance, paths = Chance(seed), list[Path]()
    for number in range(count):
        own = folder / f"{number:04d}"
        own.mkdir()
        paths.append(KINDS[number % len(KINDS)](chance, own))
    return paths
