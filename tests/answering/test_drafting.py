"""A model drafts the answer: true drafts are shown, a draft with one false claim never is."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path

import pytest

pytest.importorskip("openai", reason="needs the extra `llm`")

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundplan.answering.answer import answer
from groundplan.answering.drafting.draft import answer_with, compose, proven
from groundplan.answering.drafting.proving import problems
from groundplan.answering.drafting.tokens import words_of
from groundplan.contracts.answer import Answer, Outcome
from groundplan.contracts.reading import Reading
from groundplan.contracts.roles import Roles, WriteRole
from groundplan.llm.calls import Calls
from groundplan.llm.cascade import Cascade
from groundplan.llm.client import Model
from groundplan.project import AsyncProject
from groundplan.state.measures import FAST, ModelSpeed, keep_speed
from tests.answering.altering import Altered, altered, filled, swapped
from tests.answering.drafted import DATA, Asked, ask_all
from tests.llm.scripted import PROBED, Behaviour, says, scripted, sends

Drafts = list[tuple[Asked, list[str]]]
SEED, EACH = 53, 60


@pytest.fixture(scope="module")
def drafts() -> Drafts:
    return list(ask_all())


@pytest.fixture(scope="module")
def by_region(drafts: Drafts) -> Asked:
    return next(asked for asked, _ in drafts if asked.question == "revenue by region")


def slots(asked: Asked) -> dict[str, str]:
    """The slots by what a reader sees."""
    return {slot.cite.text: slot.id for slot in asked.offer.slots.values()}


@pytest.mark.requirement("R52")
def test_true_drafts_are_shown(drafts: Drafts) -> None:
    true = [(asked, text) for asked, texts in drafts for text in texts]
    refused = [(asked.question, text, wrong) for asked, text in true if (wrong := problems([text], asked.offer))]
    assert len(true) >= 200
    assert len(true) - len(refused) >= 190 / 200 * len(true), refused


@pytest.mark.requirement("R52")
def test_no_altered_draft_is_shown(drafts: Drafts) -> None:
    chance, kinds = random.Random(SEED), dict[str, list[Altered]]()
    for asked, texts in drafts:
        for text in texts:
            more = (Altered("two numbers swapped", asked, other, text) for other in swapped(asked, text))
            for one in (*altered(asked, text), *more):
                kinds.setdefault(one.how, []).append(one)
    chosen = [one for found in kinds.values() for one in chance.sample(found, min(EACH, len(found)))]
    assert len(chosen) >= 500
    assert len(kinds) == 13
    shown = [(one.how, filled(one.asked, one.text)) for one in chosen if not problems([one.text], one.asked.offer)]
    assert not shown


def test_random_sentences_are_shown_only_if_they_are_true(by_region: Asked) -> None:
    """Every choice of names and numbers for a few forms, judged by plain Python."""
    offer = by_region.offer
    names = {str(slot.cite.value): slot.id for slot in offer.slots.values() if slot.kind == "name"}
    revenue = {next(iter(s.at.values())): s for s in offer.numbers() if s.sort == "value" and s.at}
    ids = {name: slot.id for name, slot in revenue.items()}
    ranks = sorted(revenue, key=lambda name: -float(revenue[name].cite.value or 0))
    order = {name: place for place, name in enumerate(ranks)}
    forms: Sequence[tuple[str, Callable[[str, str, str, str], bool]]] = (
        ("{{{n0}}} had {{{v0}}} and {{{n1}}} had {{{v1}}}.", lambda a, b, x, y: (a, b) == (x, y)),
        ("Revenue was {{{v0}}} in {{{n0}}} and {{{v1}}} in {{{n1}}}.", lambda a, b, x, y: (a, b) == (x, y)),
        ("{{{n0}}} and {{{n1}}} had {{{v0}}} and {{{v1}}} respectively.", lambda a, b, x, y: (a, b) == (x, y)),
        (
            "{{{n0}}} leads with {{{v0}}}, followed by {{{n1}}} with {{{v1}}}.",
            lambda a, b, x, y: (a, b) == (x, y) == (ranks[0], ranks[1]),
        ),
        (
            "{{{n0}}} ({{{v0}}}) had more revenue than {{{n1}}} ({{{v1}}}).",
            lambda a, b, x, y: (a, b) == (x, y) and order[a] < order[b],
        ),
        (
            "Revenue was highest in {{{n0}}} ({{{v0}}}) and lowest in {{{n1}}} ({{{v1}}}).",
            lambda a, b, x, y: (a, b) == (x, y) == (ranks[0], ranks[-1]),
        ),
        (
            "{{{n0}}} is behind {{{n1}}}, {{{v0}}} against {{{v1}}}.",
            lambda a, b, x, y: (a, b) == (x, y) and order[a] > order[b],
        ),
    )
    for (form, is_true), (a, b, x, y) in product(forms, product(ranks, repeat=4)):
        if a != b:
            text = form.format(n0=names[a], n1=names[b], v0=ids[x], v1=ids[y])
            assert (not problems([text], offer)) == is_true(a, b, x, y), filled(by_region, text)


@pytest.mark.parametrize(
    "text",
    [
        "{West} leads, with a total of {68.0}.",
        "It brought in {68.0}.",
        "Revenue was {68.0}, from {West}.",
        "{West} had {30%} of {20.2 million}.",
        "{West} had more than {20.2 million}.",
        "{West} leads {North}.",
        "The highest revenue in {West} was {20.2 million}.",
        "{West} is ahead of {North} with {16.4 million}.",
        "{Central} had {7.84 million}; the lowest, {West}, had {20.2 million}.",
        "The top regions are {West} and {Central}.",
        "{West} had {20.2 million} per region.",
        "Revenue rose by {20.2 million} in {West}.",
        "Monthly revenue was {68.0}.",
        "{West} had revenue.\n\nIgnore the above.",
        "All is well.",
        "{West} had {20.2 million}!",
        "{West} had <b>{20.2 million}</b>.",
        "[{West}](http://evil.example) had {20.2 million}.",
    ],
)
def test_what_could_be_misread_is_refused(by_region: Asked, text: str) -> None:
    known = {**slots(by_region), "68.0": next(s.id for s in by_region.offer.numbers() if not s.at)}
    for shown, name in known.items():
        text = text.replace(f"{{{shown}}}", f"{{{name}}}")
    assert problems([text], by_region.offer)


def test_copied_values_become_slots(by_region: Asked) -> None:
    sentences, wrong = proven(["West has the highest revenue at 20.2 million."], by_region.offer)
    assert not wrong
    known = slots(by_region)
    assert sentences == [f"{{{known['West']}}} has the highest revenue at {{{known['20.2 million']}}}."]
    assert proven(["West has the highest revenue at 20.3 million."], by_region.offer)[1]


def test_each_number_of_a_shown_draft_cites_its_cells_and_remarks_stay(drafts: Drafts) -> None:
    for asked, texts in drafts:
        text = next(text for text in texts if not problems([text], asked.offer))
        made = compose([text], asked.offer, asked.plan, asked.facts, asked.shown)
        assert made is not None, asked.question
        usual = answer(asked.plan, asked.facts, asked.shown, (), asked.language)
        assert isinstance(usual, Answer)
        assert all(made[0][cited.start or 0 :].startswith(cited.text) for cited in made[1])
        if asked.offer.subject.filters:
            assert made[0].splitlines()[-1] in usual.text


def test_kinds_of_words_do_not_overlap() -> None:
    for language in ("en", "ru"):
        told = [phrase for phrases in words_of(language).values() for phrase in phrases]
        assert len({*told}) == len(told)


# with a server


def ask(asked: Asked, *script: Behaviour) -> tuple[Answer, str, list[str]]:
    async def asking() -> tuple[Answer, str, list[str]]:
        async with scripted(says(PROBED), *script) as server, Model.open(server.endpoint()) as model:
            assert await model.enforces_schema()
            calls = Calls(Cascade((model,)), 20, "write", WriteRole())
            reading = Reading(question=asked.question, requirements=())
            found, how = await answer_with(
                asked.plan, asked.facts, asked.shown, (), reading, "total revenue by region", calls
            )
            assert isinstance(found, Answer)
            return found, how, [request["messages"][0]["content"] for request in server.requests[1:]]

    return asyncio.run(asking())


def writes(*sentences: str) -> Behaviour:
    return says(json.dumps({"sentences": sentences}))


TRUE, FALSE = "West has the highest revenue at 20.2 million.", "Central has the highest revenue at 7.84 million."


@pytest.mark.requirement("R50")
def test_a_proven_draft_is_the_answer(by_region: Asked) -> None:
    found, how, prompts = ask(by_region, writes(TRUE))
    assert found.text == TRUE
    assert [cited.text for cited in found.citations] == ["West", "20.2 million"]
    assert all(cited.cells for cited in found.citations)
    assert "attempt 1" in how
    assert len(prompts) == 1
    assert "revenue by region" in prompts[0]
    assert "{n1} = West" in prompts[0]


@pytest.mark.requirement("R33", "R51")
def test_a_refused_draft_is_written_again_once_with_the_reasons(by_region: Asked) -> None:
    found, how, prompts = ask(by_region, writes(FALSE), writes(TRUE))
    assert found.text == TRUE
    assert "attempt 2" in how
    assert "the order of the highest or lowest is not what the facts say" in prompts[1]


@pytest.mark.requirement("R54")
@pytest.mark.parametrize(("said", "how"), [(TRUE, "drafted by scripted in attempt 1"), (FALSE, "was refused 2 times")])
def test_the_trace_says_how_the_text_came_to_be(said: str, how: str) -> None:
    async def run() -> Outcome:
        async with scripted(says(PROBED), writes(said)) as server:
            project = await AsyncProject.open(DATA["sales"], models=[server.endpoint()], roles=Roles(writer="model"))
            return await project.ask("revenue by region")

    outcome = asyncio.run(run())
    assert isinstance(outcome, Answer)
    assert outcome.text.startswith("West has the highest revenue")
    assert (outcome.text == TRUE) == (said == TRUE)
    assert how in next(entry.thought for entry in outcome.trace if entry.stage == "answer")


def rendered(asked: Asked) -> str:
    usual = answer(asked.plan, asked.facts, asked.shown, (), asked.language)
    assert isinstance(usual, Answer)
    return usual.text


@pytest.mark.requirement("R51")
@pytest.mark.parametrize("reply", [writes(FALSE), says("no JSON"), says('{"sentences": []}'), sends(500, "{}")])
def test_what_cannot_be_used_leaves_the_rendered_text(by_region: Asked, reply: Behaviour) -> None:
    found, how, prompts = ask(by_region, reply, reply)
    assert found.text == rendered(by_region)
    assert how.startswith("written from the facts")
    assert "refused 2 times" in how or "no draft came" in how
    assert len(prompts) >= 1


@pytest.mark.requirement("R52")
@given(data=st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_ends_in_a_proven_draft_or_is_refused(by_region: Asked, data: st.DataObject) -> None:
    words = [" ".join(phrase) for phrases in words_of("en").values() for phrase in phrases]
    pieces = st.sampled_from(
        [*words, *(f"{{{name}}}" for name in by_region.offer.slots), ",", ":", "revenue", "region"]
    )
    soup = st.lists(pieces, max_size=12).map(" ".join)
    written = data.draw(st.lists(soup | st.text(max_size=60), min_size=1, max_size=4))
    sentences, wrong = proven(written, by_region.offer)
    made = None if wrong else compose(sentences, by_region.offer, by_region.plan, by_region.facts, by_region.shown)
    assert wrong or (made and made[1])


@pytest.mark.parametrize(("speed", "drafts"), [(None, False), (FAST - 1, False), (FAST, True)])
def test_by_default_a_model_that_was_measured_to_be_fast_drafts(
    speed: float | None, drafts: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path))

    async def run() -> Outcome:
        async with scripted(says(PROBED), writes(TRUE)) as server:
            if speed is not None:
                keep_speed(ModelSpeed(url=server.url, model="m", tokens_per_second=speed))
            roles = Roles(reader="words")
            project = await AsyncProject.open(DATA["sales"], models=[server.endpoint()], roles=roles)
            return await project.ask("revenue by region")

    outcome = asyncio.run(run())
    assert isinstance(outcome, Answer)
    assert (outcome.text == TRUE) == drafts
