"""Rollouts on the real service: from words to a model through shadow, shares and promotion, and back when it is bad."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.patience import HANGS

pytest.importorskip("openai", reason="needs the extra `llm`")

from groundplan.contracts.answer import Answer
from groundplan.contracts.feedback import Feedback
from groundplan.contracts.rollout import RolloutLimits, RunSide, StopBounds
from groundplan.contracts.run import ENDED, Run, RunReply, RunRequest
from groundplan.errors import UsageError
from groundplan.rollout.assigning import SHARES
from groundplan.service.data import Data
from groundplan.service.projects import Projects
from groundplan.service.rollouts import Commands
from groundplan.service.shadow import Shadow
from groundplan.service.worker import AT_ONCE, Worker
from groundplan.settings import state_folder, trust_folder
from groundplan.state.database import Database, SQLite
from groundplan.state.feedback import Ratings
from groundplan.state.plans import PlanStore
from groundplan.state.postgres import open_postgres
from groundplan.state.rollouts import Rollouts
from groundplan.state.runs import Conflict, Runs
from groundplan.telemetry.metrics import Metrics
from groundplan.telemetry.telemetry import Telemetry
from tests.asking.tables.described import SALES
from tests.llm.scripted import PROBED, Behaviour, Scripted, hangs, says, scripted, sends
from tests.service.conftest import OpenDatabase

QUESTIONS = {
    f"{function} {column} by {group}": f"SELECT {group}, {sql}({column}) FROM sales GROUP BY {group}"
    for function, sql in (("total", "SUM"), ("average", "AVG"), ("maximum", "MAX"))
    for column in ("revenue", "units", "cost")
    for group in ("region", "channel")
}
SETTINGS = """
[variants.large]
model = "big"
roles = {{ accept = "first" }}

[variants.words]
roles = {{ reader = "words" }}

[models.big]
url = "{url}"
model = "m"
"""
ABOUT = [[one for one in QUESTIONS if one.startswith(word)] for word in ("total", "average", "maximum")]
"""What a conversation is about: a change from totals to averages would be read as a follow-up."""
MAIL = 'Send an email to ada@example.org with the subject "Hello" and the body "There".'
WRONG = "SELECT COUNT(*) FROM sales"


@dataclass
class Service:
    """One worker over a database, and the model that the variant `large` asks."""

    database: Database
    projects: Projects
    model: Scripted
    telemetry: Telemetry
    sql: Callable[[str], str] = field(default=QUESTIONS.__getitem__)
    pause: float = 0.0  # seconds until the model replies to a question

    @property
    def commands(self) -> Commands:
        return Commands(self.projects, self.database.tenant)

    @property
    def rollouts(self) -> Rollouts:
        return Rollouts(self.database)

    async def ask(self, question: str, thread: str | None = None) -> Run:
        run, _ = await Runs(self.database).add(RunRequest(question=question, thread=thread))
        return await self.ended(run.id)

    async def ended(self, run_id: str) -> Run:
        async with asyncio.timeout(2 * HANGS):
            while True:
                run = await Runs(self.database).find(run_id)
                assert run is not None
                if run.state in ENDED:
                    return run
                await asyncio.sleep(0.02)

    async def shadowed(self, count: int) -> None:
        """Wait until the shadow has read so many questions."""
        rollout = await self.rollouts.latest()
        assert rollout is not None
        await holds(lambda: self._has_shadowed(rollout.id, count))

    async def _has_shadowed(self, rollout: str, count: int) -> bool:
        read = [one for one in await self.rollouts.questions(rollout) if one.side == "shadow"]
        return len(read) >= count

    async def nothing_is_due(self) -> bool:
        async with self.database.transaction(writes=False) as run:
            sql = "select 1 from rollout_questions where due is not null and tenant = ?"
            return not await run(sql, self.database.tenant)


async def holds(told: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(4 * HANGS):
        while True:
            if await told():
                return
            await asyncio.sleep(0.05)


@asynccontextmanager
async def serving(database: Database, folder: Path, at_once: int = AT_ONCE) -> AsyncIterator[Service]:
    """The model reads each question as its SQL; `folder` is the working folder."""
    async with scripted(says(PROBED)) as model:
        (folder / "groundplan.toml").write_text(SETTINGS.format(url=model.url))
        trust_folder(folder)
        telemetry = Telemetry()
        data = Data(str(SALES))
        projects = Projects(database, data.open)
        found = Service(database, projects, model, telemetry)
        model.script[:] = [_reading(found)]
        worker = Worker(projects, at_once, telemetry, shadow=Shadow(data, database, telemetry.metrics))
        working = asyncio.create_task(worker.work())
        try:
            yield found
        finally:
            worker.stop()
            with suppress(asyncio.CancelledError):
                await working
            await projects.close()


def _reading(service: Service) -> Behaviour:
    """Reads the question that the last prompt ends with."""

    async def behave(writer: asyncio.StreamWriter) -> None:
        prompt = json.dumps(service.model.requests[-1], ensure_ascii=False)
        asked = [question for question in QUESTIONS if question in prompt]
        last = max(asked, key=prompt.rindex) if asked else None
        reply = json.dumps({"sql": service.sql(last), "assumes": []}) if last else PROBED
        await asyncio.sleep(service.pause if last else 0)
        await says(reply)(writer)

    return behave


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)


def in_service(database: OpenDatabase, folder: Path, work: Callable[[Service], Any]) -> None:
    async def run() -> None:
        async with database() as opened, serving(opened, folder) as service:
            await work(service)

    asyncio.run(run())


def side_of(run: Run) -> RunSide:
    assert run.rollout is not None, run
    return run.rollout


def readers(run: Run) -> tuple[str, ...]:
    assert isinstance(run.outcome, Answer), run.outcome
    assert run.outcome.reading is not None
    return run.outcome.reading.read_by


@pytest.mark.requirement("R62", part="shadow")
@pytest.mark.requirement("R62", part="share")
@pytest.mark.parametrize("count", [60, pytest.param(2_000, marks=pytest.mark.slow)], ids=["few", "many"])
@pytest.mark.timed
def test_from_words_to_a_model_no_conversation_changes_sides(count: int, postgres: str, tmp_path: Path) -> None:
    """Questions of conversations that begin at each share and go on at later ones."""

    async def work() -> None:
        async with open_postgres(postgres) as opened, serving(opened.of(f"simulated-{count}"), tmp_path) as service:
            await _roll_out(service, count)

    asyncio.run(work())


async def _roll_out(service: Service, count: int) -> None:
    chance, sides = random.Random(5), defaultdict[str, list[RunSide]](list)
    said = defaultdict[str, list[str]](list)  # by conversation: a question that is asked again needs no model
    each = count // len(SHARES)
    await service.commands.start("large")
    for share in SHARES:
        if share:
            assert (await service.commands.step()).share == share
        begun = [f"talk {share} {number}" for number in range(each // 2)]
        talks = [*[*sides][-len(begun) :], *begun, *begun]  # some go on, most begin
        for _ in range(each):
            talk, question = chance.choice([pair for talk in talks for pair in _unasked(talk, said[talk])])
            said[talk].append(question)
            run = await service.ask(question, talk)
            expected = ("big",) if side_of(run).side == "trial" else ()
            assert readers(run) == expected, f"{run.request.question} is answered by {readers(run)}: {run.rollout}"
            assert side_of(run).share == share
            sides[talk].append(side_of(run))
        if share == 0:
            await service.shadowed(each)
    for talk, told in sides.items():
        assert len({side.side for side in told}) == 1, f"{talk} changed sides"
        assert told[0].share or told[0].side == "current"
    last = [told[0].side for told in sides.values() if told[0].share == 100]
    assert last.count("trial") == len(last) > 0
    status = await service.commands.status()
    assert status.same_meaning is not None
    assert (status.same_meaning.value, status.same_meaning.n) == (1.0, each)
    assert status.same_rows is not None
    assert status.same_rows.value == 1.0
    assert sum(side.n for name, side in status.sides.items() if name != "shadow") == each * len(SHARES)
    assert (status.sides["trial"].tokens > 0, status.sides["current"].tokens) == (True, 0)
    await service.commands.promote()
    run = await service.ask("total revenue by region", "after")
    assert (readers(run), run.rollout) == (("big",), None)
    print(f"\n{each * len(SHARES)} questions in {len(sides)} conversations, {status.sides['trial'].n} by the trial")


def _unasked(talk: str, said: list[str]) -> list[tuple[str, str]]:
    about = ABOUT[len(talk) % len(ABOUT)]
    return [(talk, question) for question in about if question not in said]


@pytest.mark.slow
@pytest.mark.requirement("R62", part="shadow")
def test_the_shadow_adds_at_most_five_percent_to_what_people_wait_for(database: OpenDatabase, tmp_path: Path) -> None:
    """The same questions to one worker, in turn without and with a shadow whose model takes half a second.

    Fails if resampling makes it likely that p95 has grown by more. Run it alone, on a machine that does nothing else.
    """

    async def seconds(service: Service, chance: random.Random, count: int) -> list[float]:
        told = list[float]()
        for _ in range(count):
            await asyncio.sleep(chance.uniform(0.2, 1.2))
            began = time.monotonic()
            await service.ask(chance.choice([*QUESTIONS]))
            told.append(time.monotonic() - began)
        return told

    async def work(service: Service) -> None:
        service.pause = 0.5
        await seconds(service, random.Random(0), 10)
        alone, beside, read = list[float](), list[float](), 0
        for turn in range(5):
            alone += await seconds(service, random.Random(turn), 25)
            await service.commands.start("large")
            await service.ask("total revenue by region")
            await service.shadowed(1)  # its process has started
            beside += await seconds(service, random.Random(turn), 25)
            read += (await service.commands.status()).sides["shadow"].n - 1
            await service.commands.stop("measured")
        ratio, (low, high) = p95(beside) / p95(alone), _likely_ratios(beside, alone)
        print(f"\np95 {p95(alone):.3f} s alone, {p95(beside):.3f} s beside: {ratio:.2f} ({low:.2f} to {high:.2f})")
        print(f"p50 {_half(alone):.3f} s and {_half(beside):.3f} s; the shadow read {read} of {len(beside)} questions")
        assert read > 0
        assert low <= 1.05

    in_service(database, tmp_path, work)


def p95(told: list[float]) -> float:
    return sorted(told)[int(len(told) * 0.95)]


def _likely_ratios(over: list[float], under: list[float]) -> tuple[float, float]:
    """Between these is the ratio of both p95 in 90 % of the resamples."""
    chance = random.Random(1)
    pairs = ((chance.choices(over, k=len(over)), chance.choices(under, k=len(under))) for _ in range(1_000))
    found = sorted(p95(one) / p95(other) for one, other in pairs)
    return found[50], found[949]


def _half(told: list[float]) -> float:
    return sorted(told)[len(told) // 2]


@pytest.mark.requirement("R62", part="fallback")
def test_a_variant_whose_model_fails_is_replaced_in_the_run_and_stops(database: OpenDatabase, tmp_path: Path) -> None:
    async def work(service: Service) -> None:
        await service.commands.start("large", 100)
        service.model.script[:] = [sends(500, "{}")]
        runs = [await service.ask(question) for question in [*QUESTIONS][:8]]
        assert {readers(run) for run in runs} == {()}, "every question was answered by the current variant"
        tried = [run.rollout.fell_back for run in runs if run.rollout]
        assert tried[0] == "model"
        assert len(tried) < len(runs), "the trial has stopped by itself"
        status = await service.commands.status()
        assert status.rollout is not None
        assert (status.rollout.state, status.current) == ("stopped", "settings")
        assert status.advice.startswith("The trial of large has stopped: errors: ")
        text = service.telemetry.metrics.text().decode()
        assert "groundplan_rollout_stops_total 1.0" in text
        assert 'groundplan_variant_questions_total{fell_back="model",side="trial",status="answered"}' in text

    in_service(database, tmp_path, work)


@pytest.mark.requirement("R62", part="fallback")
def test_a_slow_or_dear_variant_is_replaced_in_the_same_run(database: OpenDatabase, tmp_path: Path) -> None:
    async def work(service: Service) -> None:
        await service.ask("total revenue by region")
        await service.commands.start("large", 100, limits=RolloutLimits(timeout=0.5))
        service.model.script[:] = [hangs]
        run = await service.ask("average cost by region")
        assert (side_of(run).fell_back, readers(run)) == ("timeout", ())
        await service.commands.stop("too slow")
        await service.commands.start("large", 100, limits=RolloutLimits(day_tokens=0))
        run = await service.ask("average units by region")
        assert (side_of(run).fell_back, readers(run)) == ("budget", ())
        [kept] = await service.rollouts.questions(side_of(run).rollout)
        assert (kept.fell_back, kept.is_error) == ("budget", False)

    in_service(database, tmp_path, work)


def test_thumbs_down_stop_a_trial_and_all_is_current_from_the_next_question_on(
    database: OpenDatabase, tmp_path: Path
) -> None:
    async def work(service: Service) -> None:
        await service.commands.start("large", 100)
        ratings, stopped = Ratings(service.database), None
        for number in range(10):
            run = await service.ask([*QUESTIONS][number], "one talk")
            stopped = await ratings.give(run.id, Feedback(thumb="bad"))
            if stopped:
                break
            assert side_of(run).side == "trial"
        assert stopped is not None
        assert stopped.startswith("thumbs down")
        run = await service.ask("total cost by region", "one talk")
        assert (run.rollout, readers(run)) == (None, ())

    in_service(database, tmp_path, work)


@pytest.mark.timed
def test_the_shadow_tells_what_it_reads_otherwise_and_keeps_no_plan_and_no_text(
    database: OpenDatabase, tmp_path: Path
) -> None:
    async def work(service: Service) -> None:
        service.sql = lambda question: WRONG if question.startswith("total revenue") else QUESTIONS[question]
        rollout = await service.commands.start("large")
        runs = [await service.ask(question) for question in ("total revenue by region", "total cost by region")]
        await service.shadowed(2)
        found = {one.run: one for one in await service.rollouts.questions(rollout.id) if one.side == "shadow"}
        wrong, right = (found[run.id] for run in runs)
        assert (right.same_meaning, right.same_rows, right.tokens > 0) == (True, True, True)
        assert wrong.same_meaning is not True
        assert wrong.same_rows is not True
        assert await PlanStore(service.database).entries() == ()
        async with service.database.transaction(writes=False) as run:
            kept = str(await run("select * from rollout_questions")) + str(await run("select * from rollouts"))
        assert "revenue" not in kept
        assert service.model.url not in kept

    in_service(database, tmp_path, work)


@pytest.mark.timed
def test_the_shadow_has_a_budget(database: OpenDatabase, tmp_path: Path) -> None:
    async def work(service: Service) -> None:
        await service.commands.start("large", limits=RolloutLimits(day_tokens=1))
        for question in [*QUESTIONS][:3]:
            await service.ask(question)
        await service.shadowed(1)
        await holds(service.nothing_is_due)
        status = await service.commands.status()
        assert (status.sides["current"].n, status.sides["shadow"].n) == (3, 1)

    in_service(database, tmp_path, work)


def test_a_step_has_to_read_the_regression_set_rightly(database: OpenDatabase, tmp_path: Path) -> None:
    async def work(service: Service) -> None:
        run = await service.ask("total revenue by region")
        await Ratings(service.database).give(run.id, Feedback(thumb="bad"))
        async with service.projects.of(service.database.tenant) as project:
            await project.review(run.id, sql=QUESTIONS["total revenue by region"])
        await service.commands.start("large")
        service.sql = lambda _: WRONG
        with pytest.raises(Conflict, match="misses 1 of 1 questions of your regression set"):
            await service.commands.step()
        assert (await service.commands.step(10, force=True)).share == 10
        service.sql = QUESTIONS.__getitem__
        assert (await service.commands.step()).share == 25
        assert (await service.commands.step(10)).share == 10, "a step back needs no proof"

    in_service(database, tmp_path, work)


def test_one_variant_is_on_trial_and_what_is_wrong_is_said(database: OpenDatabase, tmp_path: Path) -> None:
    async def work(service: Service) -> None:
        commands = service.commands
        for told in (commands.step(), commands.stop(), commands.promote()):
            with pytest.raises(Conflict, match="no variant is on trial"):
                await told
        with pytest.raises(UsageError, match="no variant 'huge'"):
            await commands.start("huge")
        with pytest.raises(Conflict, match="in force already"):
            await commands.start("settings")
        await commands.start("words", 100, StopBounds(seconds=1.0))
        with pytest.raises(Conflict, match="'words' is on trial"):
            await commands.start("large")
        assert (await Rollouts(service.database.of("another")).standing()).rollout is None
        with pytest.raises(Conflict, match="answers everything already"):
            await commands.step()
        await commands.promote()
        assert (await commands.status()).current == "words"
        await commands.start("settings")
        await commands.promote()
        assert (await commands.status()).current == "settings"

    in_service(database, tmp_path, work)


@pytest.mark.needs("mcp")
@pytest.mark.timed
def test_the_shadow_of_a_task_changes_nothing(tmp_path: Path) -> None:
    """The mail that a person approved is sent once, also if the variant on trial plans it as well."""
    asyncio.run(_send_one_mail(tmp_path))


async def _send_one_mail(folder: Path) -> None:
    from tests.mcp.tasks import MAILS
    from tests.sources.mcp.calling import rows, served_shop

    with served_shop(folder / "shop.sqlite") as shop:
        (folder / "groundplan.toml").write_text('[variants.words]\nroles = { reader = "words" }\n')
        database, data = SQLite(state_folder(), "alone"), Data({"shop": {"mcp": shop}})
        projects = Projects(database, data.open)
        worker = Worker(projects, shadow=Shadow(data, database, Metrics()))
        runs, commands = Runs(database), Commands(projects, "alone")
        working = asyncio.create_task(worker.work())
        await commands.start("words")
        run, _ = await runs.add(RunRequest(question=MAIL))
        asked = await _in_state(runs, run.id, "waiting_approval")
        await runs.reply(run.id, "waiting_approval", RunReply(approved=asked.approve), asked.approve)
        await _in_state(runs, run.id, "succeeded")
        rollout = await Rollouts(database).latest()
        assert rollout is not None

        async def read() -> bool:
            return any(one.side == "shadow" for one in await Rollouts(database).questions(rollout.id))

        await holds(read)
        [shadow] = [one for one in await Rollouts(database).questions(rollout.id) if one.side == "shadow"]
        assert (shadow.status, shadow.same_meaning) == ("answered", True)
        assert len(rows(folder / "shop.sqlite", MAILS)) == 1
        worker.stop()
        await working
        await projects.close()


async def _in_state(runs: Runs, run_id: str, state: str) -> Run:
    async def reached() -> bool:
        run = await runs.find(run_id)
        assert run is not None
        assert run.state == state or not run.ended, run
        return run.state == state

    await holds(reached)
    found = await runs.find(run_id)
    assert found is not None
    return found
