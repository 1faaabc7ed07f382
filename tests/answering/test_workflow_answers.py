"""What a person reads after a workflow: what was done, what not and why, what was found; and nothing else holds."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from groundplan.answering.answer import answer
from groundplan.answering.writing.forms import Sentence, forms
from groundplan.answering.writing.text import STEPS, text_of
from groundplan.answering.writing.write import sentences
from groundplan.contracts.answer import Answer, Citation
from groundplan.contracts.contract import Language
from groundplan.contracts.facts import Facts, Item
from groundplan.contracts.plan import CheckedPlan
from groundplan.contracts.verdict import Passed
from groundplan.project import Project
from groundplan.running.run import run as run_plan
from groundplan.sources.mcp.source import Mcp
from tests.answering.asking import Run, by_groups
from tests.answering.asking import opened as opened_tables
from tests.mcp import tasks
from tests.mcp.tasks import ADA, BORIS, CHEN, DORA
from tests.mcp.workflows import proposal
from tests.running.saving import saved_in
from tests.sources.mcp.calling import opened, shop_command

LANGUAGES: tuple[Language, ...] = ("en", "ru")
Carry = Callable[..., Run]

pytestmark = pytest.mark.requirement("R52")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shop") / "shop.sqlite"


@pytest.fixture(scope="module")
def project(shop: Path) -> Iterator[Project]:
    with Project({"shop": {"mcp": shop_command(shop)}}) as shopping:
        yield shopping


@pytest.fixture(scope="module")
def carry(project: Project) -> Carry:
    def carry_out(steps: list[dict[str, Any]], **limits: int) -> Run:
        plan = proposal(steps)
        plan["plan"]["limits"] = limits
        proposed = json.dumps(plan)
        verdict = project.check(proposed)
        assert isinstance(verdict, Passed), verdict
        outcome = project.run(proposed, approve=True).outcome
        assert isinstance(outcome, Answer)
        return Run(verdict.plan, outcome.facts, {})

    return carry_out


@pytest.fixture(scope="module")
def runs(carry: Carry) -> list[Run]:
    """Sent and not sent, by a condition that held and by one that did not; lists, nothing, a failure."""
    told = [
        tasks.one_of_two(ADA, "Thank you"),
        tasks.one_of_three(BORIS, "News"),
        tasks.write_then_book(ADA, BORIS),
        tasks.write_about_orders(ADA, has_some=True),
        tasks.write_about_orders(DORA, has_some=False),
        tasks.each_their_own({ADA: "Thank you", BORIS: "An offer", DORA: "An offer"}),
    ]
    return [carry(task.plan["plan"]["steps"]) for task in told] + [carry(FAILING)]


def find(id_: str, email: str) -> dict[str, Any]:
    return {"id": id_, "tool": "shop.find_customer", "params": {"email": email}}


def mail(id_: str, to: object, subject: str, *needs: str, body: str = "Hello") -> dict[str, Any]:
    params = {"to": to, "subject": subject, "body": body}
    return {"id": id_, "tool": "shop.send_email", "params": params, "needs": list(needs)}


def router(id_: str, on: str, routes: Sequence[tuple[str, str]], default: str | None = None) -> dict[str, Any]:
    listed = [{"when": when, "to": to} for when, to in routes]
    return {"id": id_, "kind": "router", "needs": [on], "routes": listed, "default": default}


FAILING = [find("nobody", "nobody@example.org"), mail("lost", {"$from": "nobody.email"}, "Lost", "nobody")]
FAILING += [mail("sent", ADA, "Sent")]


def test_what_was_done_comes_first_then_what_was_not_and_why_then_what_was_found(carry: Carry) -> None:
    run = carry(tasks.one_of_two(ADA, "Thank you").plan["plan"]["steps"])
    assert re.sub(r"\(id \d+\)", "(id 1)", run.text()).split("\n") == [
        f'Done: send_email: to {ADA}, subject "Thank you", body "You are one of our best" (id 1).',
        f'Not done: send_email (to {ADA}, subject "An offer", body "Become premium and save"), '
        "because `customer.first.tier == 'premium'` held.",
        f'customer (find_customer): id 1, name "Ada Brown", email {ADA}, tier premium, country Norway.',
    ]


def test_the_same_in_russian(carry: Carry) -> None:
    run = carry(tasks.thank_in_russian(CHEN, is_premium=False).plan["plan"]["steps"])
    assert run.text("ru").split("\n") == [
        f"Не выполнено: send_email (to {CHEN}, subject Спасибо, body «Спасибо за заказ»), "
        "потому что не соблюдено условие `customer.first.tier == 'premium'`.",
        f"customer (find_customer): id 3, name «Chen Wu», email {CHEN}, tier vip, country Singapore.",
    ]


def test_a_list_is_a_line_for_each_and_an_empty_one_says_of_what(carry: Carry) -> None:
    some = carry(tasks.write_about_orders(ADA, has_some=True).plan["plan"]["steps"])
    assert some.text().split("\n")[-3:] == [
        "orders (get_orders):",
        "- 2026-01-12: id: 101, total: 250.0, status: delivered",
        "- 2026-02-03: id: 102, total: 99.5, status: open",
    ]
    none = carry(tasks.write_about_orders(DORA, has_some=False).plan["plan"]["steps"])
    assert none.text().endswith("orders (get_orders): nothing was found (customer id 4).")
    assert none.text("ru").endswith("orders (get_orders): ничего не найдено (customer id 4).")
    assert "Nothing was found." not in none.text()


def test_equal_facts_of_different_steps_are_told_with_each(carry: Carry) -> None:
    text = carry([find("one", BORIS), find("other", DORA)]).text()
    assert [line.split(":")[0] for line in text.split("\n")] == ["one (find_customer)", "other (find_customer)"]
    assert text.count("tier standard") == 2


def test_a_step_named_as_its_tool_is_named_once(carry: Carry) -> None:
    assert carry([find("find_customer", ADA)]).text().startswith("find_customer: id 1, ")


def test_what_failed_is_told_as_failed_and_what_needed_it_as_not_done(carry: Carry) -> None:
    run = carry(FAILING)
    words: dict[Language, tuple[str, ...]] = {
        "en": ("Done", "Failed", "Not done"),
        "ru": ("Выполнено", "Ошибка", "Не выполнено"),
    }
    for language, (done, failed, not_done) in words.items():
        found = answer(run.plan, run.facts, {}, (), language)
        assert isinstance(found, Answer)
        assert {issue.code for issue in found.issues} == {"running/tool", "running/blocked"}
        first, second, third = found.text.split("\n")
        assert first.startswith(f"{done}: send_email: to {ADA}, subject Sent, body Hello")
        assert second == f"{failed}: shop.find_customer reports that it failed; check its params."
        assert third == f"{not_done}: step 'lost' needs 'nobody', which failed."


def test_a_change_that_gave_nothing_back_is_told_when_another_step_failed(carry: Carry) -> None:
    run = carry(FAILING)
    steps = tuple(end.model_copy(update={"items": ()}) for end in run.facts.steps)
    found = answer(run.plan, _changed(run, items=(), groups=(), steps=steps), {}, ())
    assert isinstance(found, Answer)
    assert found.text.startswith(f"Done: send_email: to {ADA}, subject Sent, body Hello.\n")


def test_a_table_of_the_same_run_is_told_behind_the_steps(carry: Carry, tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("region,revenue\nNorth,10\nSouth,30\n")
    with opened_tables(tmp_path / "sales.csv") as data:
        table = data.ask(by_groups("sales", ["region"]))
    steps = carry([find("customer", ADA), mail("sent", ADA, "Sent", "customer")]).facts
    both = table.facts.model_copy(update={"steps": steps.steps, "items": steps.items})
    lines = Run(table.plan, both, table.shown).text().split("\n")
    assert [line.split(" ")[0] for line in lines] == ["Done:", "customer", "South"]
    assert lines[-1].startswith("South has the highest revenue (30")


def test_what_hangs_on_a_passed_step_is_not_done_for_the_same_reason(carry: Carry) -> None:
    steps = [
        find("customer", BORIS),
        router("tier", "customer", [("customer.first.tier == 'vip'", "gala")]),
        mail("gala", BORIS, "Gala", "tier"),
        mail("after", BORIS, "After", "gala"),
    ]
    lines = carry(steps).text().split("\n")
    assert [line.partition(", because ")[2] for line in lines[:2]] == [
        "`customer.first.tier == 'vip'` did not hold."
    ] * 2


def test_several_ways_to_one_step_are_all_told_when_none_held(carry: Carry) -> None:
    ways = [("customer.first.tier == 'vip'", "gala"), ("customer.first.country == 'Peru'", "gala")]
    steps = [find("customer", BORIS), router("tier", "customer", ways), mail("gala", BORIS, "Gala", "tier")]
    because = "because `customer.first.tier == 'vip'` and `customer.first.country == 'Peru'` did not hold."
    assert because in carry(steps).text()


def test_no_reason_is_given_where_nobody_can_say_which_way_was_taken(carry: Carry) -> None:
    ways = [("customer.first.tier == 'vip'", "news"), ("customer.first.country == 'Peru'", "gala")]
    steps = [find("customer", BORIS), router("tier", "customer", ways, "news")]
    steps += [mail("gala", BORIS, "Gala", "tier"), mail("news", BORIS, "News", "tier")]
    assert f"Not done: send_email (to {BORIS}, subject Gala, body Hello).\n" in carry(steps).text()


def test_a_long_text_is_cut_and_a_text_cannot_pass_for_another_param(carry: Carry) -> None:
    sly = 'Hi", to eve@example.org\nDone: send_email: [all](http://x.org) ' + "so on " * 50
    for language in LANGUAGES:
        done = carry([mail("sent", ADA, 'A", body "B', body=sly)]).text(language)
        assert "\n" not in done
        assert len(done) < 250
        assert ("subject \"A', body 'B\"" if language == "en" else "subject «A', body 'B»") in done
        assert 'body `Hi", to eve@example.org Done: send_email: [all]' in done


@pytest.mark.requirement("R49")
def test_what_lies_beyond_the_limit_is_counted(carry: Carry) -> None:
    assert carry([find("found", ADA)], items=2).text().split("\n") == [
        'found (find_customer): id 1, name "Ada Brown".',
        "…and 3 more.",
    ]


def test_a_value_that_only_looks_like_a_date_is_shown_as_it_is(carry: Carry) -> None:
    run = carry(tasks.write_about_orders(ADA, has_some=True).plan["plan"]["steps"])
    items = tuple(Item(kind="row", title="when", value="2026-02-30", text="open") for _ in run.facts.items)
    assert "- when: 2026-02-30 (open)" in Run(run.plan, _changed(run, items=items), {}).text()


@pytest.mark.requirement("R43")
def test_a_run_that_is_taken_up_again_tells_what_was_sent_before(project: Project, shop: Path, tmp_path: Path) -> None:
    proposed = project.check(json.dumps(tasks.thank_if_premium(ADA, "Dear Ada Brown, thank you").plan))
    assert isinstance(proposed, Passed)
    with opened(shop_command(shop)) as source:
        first, again = asyncio.run(_twice(proposed.plan, source, tmp_path))
    assert first == again
    sent = {item.title: item.value for item in again.steps[-1].given}
    assert sent == {"to": ADA, "subject": "Thank you", "body": "Dear Ada Brown, thank you"}


async def _twice(plan: CheckedPlan, source: Mcp, file: Path) -> list[Facts]:
    """Run, then read back from the checkpoints alone."""
    async with saved_in(file) as checkpointer:
        kept: dict[str, Any] = {"run_id": "a_run", "checkpointer": checkpointer, "approved": plan.writes}
        return [await run_plan(plan, {"shop": source}, resume=resume, **kept) for resume in (False, True)]


def test_every_answer_holds_and_every_form_of_a_step_is_among_them(runs: Sequence[Run]) -> None:
    told = set()
    for run, language in itertools.product(runs, LANGUAGES):
        text, citations = text_of(list(sentences(run.plan, run.facts, {}, language)), language)
        assert not run.faults(text, citations), text
        told |= {sentence.form for sentence in sentences(run.plan, run.facts, {}, language)}
    assert told >= STEPS - {"passed_by", "gave_text"}


ALTERED: dict[str, Callable[[str], str]] = {
    "a recipient": lambda text: text.replace("to ada@", "to eve@").replace("to boris@", "to ada@"),
    "a value": lambda text: re.sub(r"tier (premium|standard)", "tier vip", text, count=1),
    "a number": lambda text: re.sub(r"id (\d+)", lambda found: f"id {int(found[1]) + 1}", text, count=1),
    "a condition": lambda text: text.replace("== 'premium'", "== 'vip'").replace("orders.found", "!orders.found"),
    "the name of a field": lambda text: text.replace("country ", "city ").replace("subject ", "title "),
    "whether it held": lambda text: re.sub(r"did not hold|не соблюдено", "XX", text).replace("held", "did not hold")
    .replace("соблюдено", "не соблюдено").replace("XX", "held"),
    "whether it was done": lambda text: re.sub(r"^(Done|Выполнено)", "Failed", text, flags=re.M),
    "that it was not done": lambda text: re.sub(r"^Not done|^Не выполнено", "Done", text, flags=re.M),
    "that it failed": lambda text: re.sub(r"^(Failed|Ошибка)", "Not done", text, flags=re.M),
    "a line more": lambda text: f"{text}\nDone: send_email: to eve@example.org.",
    "the first line twice": lambda text: text.partition("\n")[0] + "\n" + text,
    "a param left out": lambda text: re.sub(r"to \S+@example.org, ", "", text, count=1),
    "the step": lambda text: re.sub(r"^(customer|one) \(", "other (", text, flags=re.M),
    "nothing instead": lambda text: re.sub(r"(\(get_orders\)):\n.*", r"\1: nothing was found.", text, flags=re.S),
}  # fmt: skip


@pytest.mark.parametrize("altered", ALTERED)
def test_an_altered_line_is_always_blocked(runs: Sequence[Run], altered: str) -> None:
    tried = 0
    for run, language in itertools.product(runs, LANGUAGES):
        text, citations = text_of(list(sentences(run.plan, run.facts, {}, language)), language)
        other = ALTERED[altered](text)
        if other != text:
            tried += 1
            assert run.faults(other, citations), other
    assert tried, "an alteration that never applies proves nothing"


def test_a_line_with_values_of_another_line_is_always_blocked(runs: Sequence[Run]) -> None:
    """Every citation is true and shown as it is; it is only of another step."""
    for run, told in _told(runs):
        for (at, one), (_, other) in itertools.permutations(enumerate(told), 2):
            for slot in one.slots.keys() & other.slots.keys():
                if one.form in STEPS and other.form in STEPS and one.slots[slot] != other.slots[slot]:
                    lie = Sentence(one.form, {**one.slots, slot: other.slots[slot]})
                    _assert_blocked(run, [*told[:at], lie, *told[at + 1 :]])


def test_the_same_values_in_another_sentence_are_always_blocked(runs: Sequence[Run]) -> None:
    for run, told in _told(runs):
        for at, sentence in enumerate(told):
            given = {name for name, cites in sentence.slots.items() if cites}
            for form in STEPS - {sentence.form}:
                if any(_slots(variant) == given for variant in forms()[form].variants["en"]):
                    lie = Sentence(form, sentence.slots)
                    _assert_blocked(run, [*told[:at], lie, *told[at + 1 :]])


def test_a_line_left_out_said_twice_or_moved_is_always_blocked(runs: Sequence[Run]) -> None:
    for run, told in _told(runs):
        for at, line in enumerate(told):
            alike = [other for other in told if other.form == line.form]
            if line.form in ("done", "met", "unmet", "gave"):
                _assert_blocked(run, [*told, line])
                if len(alike) > 1:
                    _assert_blocked(run, [*told[:at], *told[at + 1 :]])
                    _assert_blocked(run, [alike[-1], *(other for other in told if other is not alike[-1])])


def test_a_citation_of_a_step_that_is_not_there_is_blocked(runs: Sequence[Run]) -> None:
    run = runs[0]
    text = f"Done: send_email: to {ADA}."
    wrong = [Citation(text="send_email", fact="facts.steps.99.tool", value="send_email")]
    wrong += [Citation(text=f"to {ADA}", fact="facts.steps.99.given.0", value=f"to {ADA}")]
    assert run.faults(text, wrong)


def _told(runs: Sequence[Run]) -> Iterator[tuple[Run, list[Sentence]]]:
    for run in runs:
        yield run, list(sentences(run.plan, run.facts, {}, "en"))


def _assert_blocked(run: Run, told: Sequence[Sentence]) -> None:
    text, citations = text_of(told, "en")
    assert run.faults(text, citations), text


def _slots(variant: Sequence[Any]) -> set[str]:
    return {piece.name for piece in variant if not isinstance(piece, str)}


def _changed(run: Run, **fields: object) -> Facts:
    return run.facts.model_copy(update=fields)
