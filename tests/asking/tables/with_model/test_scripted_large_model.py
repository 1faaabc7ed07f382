"""A large model, as a script: its readings of real questions are those that were written by hand, right or altered.

The readings of `tests/questions/readings.yaml` are put into the form of a proposal where it has a place for them. Each
part quotes the whole question, so that a quote proves nothing.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest.importorskip("openai", reason="needs the extra `llm`")

from groundplan.asking.tables.with_model.proposal import Unusable, WholeReading, reading_of
from groundplan.asking.tables.with_model.read import alike
from groundplan.asking.tables.with_model.written import written
from groundplan.contracts.answer import Answer, Clarification, Refusal
from groundplan.contracts.meaning import Meaning, meaning_of
from groundplan.contracts.roles import Roles
from groundplan.contracts.schema import SourceSchema
from groundplan.evaluation.suites.judging import Question, judge
from groundplan.evaluation.suites.questions import data_files, load_questions, load_tables, truths
from groundplan.project import AsyncProject
from groundplan.result import Planned
from groundplan.text.words import normalise
from tests.asking.tables.with_model.mutations import mutated
from tests.llm.scripted import PROBED, Scripted, says, scripted
from tests.questions.notation import reading
from tests.questions.test_readings import CASES

FOLDER = Path(os.environ.get("GROUNDPLAN_QUESTIONS", Path(__file__).parents[5] / "shared/benchmarks/questions"))
pytestmark = pytest.mark.skipif(
    not FOLDER.exists(), reason="the question benchmark is not here; set GROUNDPLAN_QUESTIONS"
)
SENSES = {  # what the unknown word means, of questions that the grammar does not read
    "retail_pos-06": "loyalty_id",  # members
    "clinic-05": "discharged_at",  # hospital
    "city-02": "department is Parks & Recreation",  # Rec
    "prodazhi-02": "выручка",  # чек
}
READ_WITH_THE_MODEL = (*SENSES, "marketing_campaigns-08", "marketing_campaigns-19")
BY_WORDS = 54  # questions that the grammar reads alone, and as the analyst did


@dataclass(frozen=True)
class Case:
    question: Question
    proposal: WholeReading
    schema: SourceSchema
    project: AsyncProject
    server: Scripted

    @property
    def right(self) -> Meaning:
        return self.meaning(self.proposal)

    def meaning(self, proposal: WholeReading) -> Meaning:
        return meaning_of(reading_of(proposal, normalise(self.question.question), self.schema))

    def script(self, proposal: WholeReading) -> None:
        self.server.replies["Sense"] = says(json.dumps({"means": SENSES.get(self.question.id, "none")}))
        self.server.replies["WholeReading"] = says(proposal.model_dump_json())

    async def plan(self, proposal: WholeReading) -> Planned:
        self.script(proposal)
        return await self.project.plan(self.question.question, today=self.question.today)


@asynccontextmanager
async def model() -> AsyncIterator[Scripted]:
    async with scripted(says("{}")) as server:
        server.replies["Probe"] = says(PROBED)
        yield server


async def cases(server: Scripted) -> AsyncIterator[Case]:
    """Every question whose written reading has the form of a proposal, by data set."""
    questions = [q for q in load_questions(FOLDER) if "inexpressible" not in CASES.get(q.id, {"inexpressible": ""})]
    for name in dict.fromkeys(q.dataset for q in questions):
        files = data_files(FOLDER, name, FOLDER)
        project = await AsyncProject.open(files[0], models=[server.endpoint()], roles=Roles(reader="model"))
        (schema,) = project.schemas.values()
        try:
            for question in (q for q in questions if q.dataset == name):
                text = normalise(question.question)
                proposal = written(reading(text, schema.tables[0].name, CASES[question.id]))
                if proposal is not None:
                    yield Case(question, proposal, schema, project, server)
        finally:
            await project.close()


@pytest.mark.requirement("R6")
def test_right_readings_of_sixty_questions_are_accepted() -> None:
    """Six questions that only the model reads are answered as the truth has it; of 54 others the words agree."""

    async def run() -> tuple[list[str], list[str]]:
        agreed, answered = list[str](), list[str]()
        async with model() as server:
            async for case in cases(server):
                if case.question.id in READ_WITH_THE_MODEL:
                    case.script(case.proposal)
                    outcome = await case.project.ask(case.question.question, today=case.question.today)
                    wanted = truths(case.question, load_tables(data_files(FOLDER, case.question.dataset, FOLDER)))
                    assert isinstance(outcome, Answer), f"{case.question.question}: {outcome.text}"
                    assert outcome.reading is not None
                    assert meaning_of(outcome.reading) == case.right
                    assert judge(case.question, outcome, wanted) == "right"
                    answered.append(case.question.id)
                elif len(agreed) < BY_WORDS:
                    planned = await case.plan(case.proposal)
                    if planned.reading is not None and planned.reading.read_by:
                        text = normalise(case.question.question)
                        assert alike(planned.reading, reading_of(case.proposal, text, case.schema))
                        agreed.append(case.question.id)
        return agreed, answered

    agreed, answered = asyncio.run(run())
    assert (len(agreed), sorted(answered)) == (BY_WORDS, sorted(READ_WITH_THE_MODEL))


@pytest.mark.slow
@pytest.mark.requirement("R6", "R7")
def test_of_altered_readings_none_is_answered() -> None:
    """Refused, asked back, or left aside for what the grammar reads by itself."""
    ended: Counter[str] = Counter()
    let_through: list[str] = []

    async def run() -> None:
        chance = random.Random(20261116)
        async with model() as server:
            async for case in cases(server):
                for fault, wrong in mutated(case.proposal, case.schema.tables[0], chance):
                    try:
                        meaning = case.meaning(wrong)
                    except Unusable:
                        ended["refused"] += 1
                        continue
                    if meaning == case.right:
                        continue
                    before = len(server.requests)
                    planned = await case.plan(wrong)
                    if len(server.requests) == before:
                        continue  # the grammar's reading stands, and the model was not asked
                    match planned.ended:
                        case Clarification():
                            ended["asked"] += 1
                        case Refusal():
                            ended["refused"] += 1
                        case _ if planned.reading is not None and meaning_of(planned.reading) != meaning:
                            ended["left aside"] += 1
                        case _ if planned.reading is not None and planned.reading.read_by:
                            ended["what the grammar reads too"] += 1
                        case _:
                            let_through.append(f"{fault}: {case.question.question}")

    asyncio.run(run())
    print(dict(ended))
    assert let_through == []
    assert ended["what the grammar reads too"] <= 1, ended
    assert ended.total() >= 300, ended
