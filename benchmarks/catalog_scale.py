"""How the catalog behaves from 100 to 100,000 tools: compiling once, loading again, looking tools up.

Exits 1 when a warm load or a look-up among 100,000 tools takes more than three times what it takes among 100.
Look-ups are of tools that were not read before; `tools_with` asks for a capability that ten tools have.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from groundplan.catalog.catalog import Catalog

SIZES = (100, 1_000, 10_000, 100_000)
ALLOWED = 3.0
SETTLING = 0.2  # seconds until the catalog trusts the clock stamp of a new file
RARE = "anomaly_detection"
OFTEN = ("aggregate", "filter", "plot", "summary_stats", "join")

TOOL = """\
  - name: {name}
    description: Tool number {index} of the benchmark, which looks at {noun} and gives a table of them.
    capabilities: [{capability}, time_aware]
    inputs: [{{name: table}}]
    params:
      type: object
      additionalProperties: false
      required: [{noun}_column]
      properties:
        {noun}_column: {{type: string, x-column: any, x-role: column}}
        by_{index}: {{type: array, maxItems: 4, items: {{type: string, x-column: any}}, default: []}}
        limit: {{type: integer, minimum: 1, maximum: {most}, default: 10}}
        direction: {{enum: [top, bottom], default: top}}
    output: {{kind: table, columns: kept}}
    effect: read
    cost: 5
"""
NOUNS = ("orders", "clients", "products", "payments", "visits", "returns", "stocks", "regions")


@dataclass(frozen=True)
class Measured:
    tools: int
    megabytes: float
    compile_seconds: float
    load_ms: float
    get_us: float
    contains_us: float
    tools_with_us: float
    nearest_ms: float


FLAT = ("load_ms", "get_us", "contains_us", "tools_with_us")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of a table")
    arguments = parser.parse_args()
    rows = [measure(size) for size in SIZES]
    slower = {name: getattr(rows[-1], name) / getattr(rows[0], name) for name in FLAT}
    if arguments.json:
        print(json.dumps({"rows": [asdict(row) for row in rows], "slower": slower, "allowed": ALLOWED}))
    else:
        print_table(rows, slower)
    return int(any(ratio > ALLOWED for ratio in slower.values()))


def measure(size: int) -> Measured:
    with TemporaryDirectory() as folder:
        file, cache = Path(folder, "tools.yaml"), Path(folder, "cache")
        file.write_text("source: benchmark\ntools:\n" + "".join(tool(index) for index in range(size)))
        time.sleep(SETTLING)
        compiled = timed(lambda: Catalog.load([file], cache))
        load = median(timed(lambda: Catalog.load([file], cache)) for _ in range(50))
        catalog = Catalog.load([file], cache)
        asked = [name(index) for index in range(0, size, size // 100)]
        return Measured(
            tools=len(catalog.tools),
            megabytes=file.stat().st_size / 1e6,
            compile_seconds=compiled,
            load_ms=load * 1e3,
            get_us=each(asked, lambda wanted: catalog.tools[wanted]),
            contains_us=each(asked, lambda wanted: wanted in catalog.tools),
            tools_with_us=each(asked, lambda _: catalog.tools_with(RARE)),
            nearest_ms=timed(lambda: catalog.nearest("look_at_oders_42")) * 1e3,
        )


def tool(index: int) -> str:
    noun = NOUNS[index % len(NOUNS)]
    capability = RARE if index < 10 else OFTEN[index % len(OFTEN)]
    return TOOL.format(name=name(index), index=index, noun=noun, capability=capability, most=10 ** (2 + index % 3))


def name(index: int) -> str:
    return f"look_at_{NOUNS[index % len(NOUNS)]}_{index}"


def each(asked: Iterable[str], call: Callable[[str], object]) -> float:
    """The median in microseconds over the names asked for."""
    return median(timed(lambda wanted=wanted: call(wanted)) for wanted in asked) * 1e6  # type: ignore[misc]


def timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def print_table(rows: list[Measured], slower: dict[str, float]) -> None:
    names = list(asdict(rows[0]))
    print(" ".join(f"{name:>15}" for name in names))
    for row in rows:
        print(" ".join(f"{value:>15,.2f}" for value in asdict(row).values()))
    for name, ratio in slower.items():
        print(f"{name}: {ratio:.2f} x from {SIZES[0]:,} to {SIZES[-1]:,} tools (at most {ALLOWED:g} x)")


if __name__ == "__main__":
    sys.exit(main())
