"""What each role of a model costs: calls, tokens and seconds for questions that need it.

    python benchmarks/role_costs.py --url http://127.0.0.1:8080/v1

Prints a table in Markdown, as docs/how-to/use-a-model.md has it. Every question is asked once, with no stored plans.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from groundplan.contracts.answer import Outcome, Spent
from groundplan.contracts.roles import ROLES, Role, RoleName, Roles, Writer, WriteRole
from groundplan.project import AsyncProject
from groundplan.settings import Endpoint

SALES = Path(__file__).parent.parent / "examples" / "sales.csv"
PATIENT = Roles(
    seconds=600,
    read=Role(seconds=600),
    plan=Role(seconds=600),
    write=WriteRole(seconds=600),
)
QUESTIONS: Sequence[tuple[str, str | None, Writer]] = (  # with the strategy and the writer that need the role
    ("total lucre by region", None, "code"),
    ("revenue by fiefdom", None, "code"),
    ("total revenue by region", "adapt", "code"),
    ("total revenue by channel", None, "model"),
)


async def ask(url: str, question: str, strategy: str | None, writer: Writer) -> Outcome:
    endpoint = Endpoint(name="model", url=url, model="")
    with tempfile.TemporaryDirectory() as state:
        os.environ["GROUNDPLAN_STATE"] = state
        project = await AsyncProject.open(SALES, models=[endpoint], roles=PATIENT.model_copy(update={"writer": writer}))
        try:
            return await project.ask(question, strategy=strategy)
        finally:
            await project.close()


async def spent_by_role(url: str) -> Mapping[RoleName, list[Spent]]:
    found: defaultdict[RoleName, list[Spent]] = defaultdict(list)
    for question, strategy, writer in QUESTIONS:
        outcome = await ask(url, question, strategy, writer)
        print(f"{outcome.kind}: {question} {outcome.usage.roles}", file=sys.stderr)
        for role, spent in outcome.usage.roles.items():
            found[role].append(spent)
    return found


def table(found: Mapping[RoleName, Sequence[Spent]]) -> Iterator[str]:
    """Means per question that called the role."""
    yield "| role | questions | calls | tokens in | tokens out | seconds |"
    yield "|---|---:|---:|---:|---:|---:|"
    for role in ROLES:
        if asked := found.get(role):
            n = len(asked)
            calls, tokens_in = sum(one.calls for one in asked) / n, sum(one.prompt_tokens for one in asked) / n
            tokens_out, seconds = sum(one.completion_tokens for one in asked) / n, sum(one.seconds for one in asked) / n
            yield f"| `{role}` | {n} | {calls:.1f} | {tokens_in:,.0f} | {tokens_out:,.0f} | {seconds:,.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True, help="the server, up to and including /v1")
    print("\n".join(table(asyncio.run(spent_by_role(parser.parse_args().url)))))


if __name__ == "__main__":
    main()
