"""The long way to an answer against groundplan's own, on ten conversations over a Tableau server on loopback.

    python -m benchmarks.tableau_conversations [--round-trip 100] [--model URL] [--strategy adapt] [--sample 3]

Both ways have the same source, reader, query builder, gate, runner and writer; `long_pipeline.py` says where they
differ. The server is the double of the tests, so its requests are counted where they arrive. It answers in a few
milliseconds, which no Tableau does: `--round-trip` makes each answer take so many more, for both alike.
Exits 1 when P50 is not a fifth lower, when a model is asked and tokens are not a fifth fewer, when the schema is
fetched for half of the questions or more, or when fewer than three in ten later turns are reused.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml
from benchmarks.long_pipeline import LongPipeline

from groundplan.evaluation.comparing.compare import Variant, compare
from groundplan.evaluation.comparing.conversations import load_conversations
from groundplan.evaluation.comparing.figures import Comparison
from groundplan.evaluation.comparing.side_by_side import lines
from groundplan.evaluation.comparing.strategies import Way, open_data, open_variant
from groundplan.evaluation.suites.sampling import spread
from groundplan.llm.cascade import Cascade
from groundplan.llm.client import Model
from groundplan.settings import load_models

HERE = Path(__file__).parent
TODAY = date(2025, 1, 10)
LONG, USUAL = "long", "usual"
FASTER, FEWER_TOKENS, FETCHED, REUSED = -0.2, -0.2, 0.5, 0.3


@dataclass(frozen=True)
class Result:
    comparison: Comparison
    requests: dict[str, Counter[str]]  # by variant and endpoint, as its server counted them; opening and warm-up too

    def missed(self, with_a_model: bool) -> list[str]:
        """The targets that the first of groundplan's own ways did not reach."""
        ours, change = self.comparison.variants[1], self.comparison.differences[0]
        share = change.tokens_share.value if change.tokens_share else 0.0
        reached = {
            "P50 a fifth lower": change.latency_p50.value <= FASTER,
            "tokens a fifth fewer": not with_a_model or share <= FEWER_TOKENS,
            "schema fetched for under half": self.requests[ours.variant]["read-metadata"] < FETCHED * ours.questions,
            "three in ten later turns reused": ours.reused is not None and ours.reused.value > REUSED,
        }
        return [target for target, held in reached.items() if not held]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--round-trip", type=float, default=0.0, help="milliseconds that each answer of the server takes"
    )
    parser.add_argument("--model", help="the address of a model's server, up to /v1; without it no model is asked")
    parser.add_argument("--strategy", action="append", choices=[USUAL, "rules", "adapt"], help="may be repeated")
    parser.add_argument("--sample", type=int, help="so many conversations, evenly spread")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of a table")
    arguments = parser.parse_args()
    sys.path.append(str(HERE.parent))  # the double belongs to the tests
    result = asyncio.run(measure(arguments))
    missed = result.missed(with_a_model=bool(arguments.model))
    if arguments.json:
        document = {
            "comparison": result.comparison.model_dump(mode="json"),
            "requests": result.requests,
            "missed": missed,
        }
        print(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        print("\n".join([*lines(result.comparison), "", *told(result)]))
        print(f"not reached: {', '.join(missed)}" if missed else "every target is reached")
    return int(bool(missed))


async def measure(arguments: argparse.Namespace) -> Result:
    """Each variant has a server of its own: a token that signs in twice ends its first session."""
    conversations = spread(load_conversations(HERE / "superstore_conversations"), arguments.sample)
    strategies = arguments.strategy or [USUAL]
    async with AsyncExitStack() as opened:
        doubles = [opened.enter_context(served(arguments.round_trip)) for _ in range(1 + len(strategies))]
        (first, settings), *others = doubles
        variants = [await open_long(opened, settings, arguments.model)]
        for strategy, (_, where) in zip(strategies, others, strict=True):
            way = Way(None if strategy == USUAL else strategy, arguments.model or "none")
            variant = open_variant(opened, await open_data(opened, where), way, today=TODAY)
            variants.append(replace(variant, name=strategy))
        comparison = await compare(variants, conversations, first.sql, on_progress)
        sent = [Counter(request.endpoint for request in double.requests) for double, _ in doubles]
    return Result(comparison, {variant.name: counts for variant, counts in zip(variants, sent, strict=True)})


@contextmanager
def served(round_trip: float) -> Iterator[tuple[Any, dict[str, Any]]]:
    """A double, and the settings that open it."""
    from tests.sources.tableau.calling import configured
    from tests.sources.tableau.double.superstore import connect
    from tests.sources.tableau.double.tableau import running

    with TemporaryDirectory() as folder, connect() as database, running(database) as double:
        double.slow = round_trip / 1000
        for endpoint in ("query-datasource", "read-metadata", double.luid) if round_trip else ():
            double.fault("slow", on=endpoint)
        yield double, {"tableau": configured(double, Path(folder), queries_per_hour=100_000)}


async def open_long(opened: AsyncExitStack, settings: dict[str, Any], model: str | None) -> Variant:
    project = await open_data(opened, settings)
    endpoints = load_models(HERE, model or "none")
    models = [await opened.enter_async_context(Model.open(endpoint)) for endpoint in endpoints]
    restated = yaml.safe_load((HERE / "superstore_restated.yaml").read_text(encoding="utf-8"))
    long = LongPipeline(project, restated, TODAY, Cascade(tuple(models)) if models else None)
    return Variant(LONG, long.answer)


def told(result: Result) -> Iterator[str]:
    for variant, counts in result.requests.items():
        yield f"{variant} sent: {', '.join(f'{endpoint} {count}' for endpoint, count in counts.most_common())}"


def on_progress(done: int, total: int) -> None:
    if done % 10 == 0 or done == total:
        print(f"{done} of {total}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
