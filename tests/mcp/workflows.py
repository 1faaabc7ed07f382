"""Plans over the shop, written by hand: who gets which mail."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from groundplan.contracts.answer import Answer, Refusal
from groundplan.project import AsyncProject


def premium_mail(email: str) -> dict[str, Any]:
    """Check whether a customer is premium, then send a mail that fits."""
    found = {"$from": "customer.email"}
    steps = [
        {"id": "customer", "tool": "shop.find_customer", "params": {"email": email}},
        {
            "id": "tier",
            "kind": "router",
            "needs": ["customer"],
            "routes": [{"when": "customer.first.tier == 'gold'", "to": "thanks"}],
            "default": "offer",
        },
        _mail("thanks", found, "Thank you", "tier"),
        _mail("offer", found, "An offer", "tier"),
    ]
    return proposal(steps)


def mail_to_each(emails: list[str]) -> dict[str, Any]:
    """Several customers at once, and a booking once all of them were written to."""
    steps: list[dict[str, Any]] = []
    for number, email in enumerate(emails):
        steps.append({"id": f"customer{number}", "tool": "shop.find_customer", "params": {"email": email}})
        steps.append(_mail(f"mail{number}", {"$from": f"customer{number}.email"}, "News", f"customer{number}"))
    mails = [f"mail{number}" for number in range(len(emails))]
    booking = {"day": "2026-12-01", "slot": "09:00", "title": "Call them"}
    steps.append({"id": "call", "tool": "shop.book_slot", "params": booking, "needs": mails})
    return proposal(steps)


def proposal(steps: list[dict[str, Any]]) -> dict[str, Any]:
    goal = {"id": "goal:g1", "value": {"kind": "goal", "text": "write to them"}, "evidence": {"text": "write to them"}}
    reading = {"question": "write to them", "requirements": [goal]}
    cited = [{**step, "satisfies": ["goal:g1"]} for step in steps]
    return {"reading": reading, "plan": {"strategy": "hand", "steps": cited}}


def _mail(id_: str, to: dict[str, str], subject: str, after: str) -> dict[str, Any]:
    needs = [after, *({to["$from"].split(".")[0]} - {after})]
    return {
        "id": id_,
        "tool": "shop.send_email",
        "params": {"to": to, "subject": subject, "body": "Hello"},
        "needs": needs,
    }


async def run(command: str, plan: dict[str, Any], **options: Any) -> Answer | Refusal:
    project = await AsyncProject.open({"shop": {"mcp": command}})
    try:
        return await project.run(json.dumps(plan), **options)
    finally:
        await project.close()


def main() -> None:
    """What a worker does: a run that may be one to go on with."""
    command, plan, resume = sys.argv[1], json.loads(Path(sys.argv[2]).read_text()), sys.argv[3] == "resume"
    outcome = asyncio.run(run(command, plan, run_id="mails", resume=resume, approve=True))
    print(outcome.model_dump_json())


if __name__ == "__main__":
    main()
