"""Tasks that cannot be done as they are said: a value is missing, impossible, or one of several."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

ADA, BORIS = "ada@example.org", "boris@example.org"
TEXT = 'with the subject "Sale" and the body "Now on"'
WHO = (
    "Norway",
    "Ada",
    "our best customers",
    "the manager",
    "everyone in Oslo",
    "a customer",
    "somebody",
    "the team",
    "+47 555 0101",
    "ada at example.org",
    "@example",
    "customer 7",
    "all of them",
    "him",
    "the usual recipients",
    "premium",
)
ORDERS = ("the customer", "a customer", "Ada", "her", "the premium customer", "customer abc", "our last customer")
CALL = 'with the title "Call"'
SLOTS = (
    f"on 2026-03-02 {CALL}",
    f"10:00 {CALL}",
    "10:00 on 2026-03-02",
    f"10:00 tomorrow {CALL}",
    f"10:00 on Monday {CALL}",
    f"10:00 on 3 March {CALL}",
    f"10:00 next week {CALL}",
    f"10:00 on 2026-02-30 {CALL}",
    f"10:00 on 2026-13-02 {CALL}",
    f"25:00 on 2026-03-02 {CALL}",
    f"10:75 on 2026-03-02 {CALL}",
    f"10:00 or 11:00 on 2026-03-02 {CALL}",
    f"10:00 on 2026-03-02 or 2026-03-03 {CALL}",
    '10:00 on 2026-03-02 with the title "Call" or "Visit"',
    "",
)


def to_nobody() -> Iterator[str]:
    for who in WHO:
        yield f"Send an email to {who} {TEXT}."
        yield f"Send {who} an email {TEXT}."
    for verb, who in product(("Notify", "Inform", "Tell", "Remind"), ("Norway", "the customers", "Ada", "everybody")):
        yield f"{verb} {who} by email."
    yield f"Send an email {TEXT}."
    yield "Отправь письмо в Норвегию с темой «Скидки» и текстом «До пятницы»."
    yield "Отправь письмо с темой «Скидки» и текстом «До пятницы»."
    yield "Отправь письмо клиенту с темой «Скидки» и текстом «До пятницы»."
    yield "Уведоми всех клиентов из Норвегии по почте."


def without_a_text() -> Iterator[str]:
    for address in (ADA, BORIS):
        yield f"Send an email to {address}."
        yield f'Send an email to {address} with the subject "Sale".'
        yield f'Send an email to {address} with the body "Now on".'
        yield f"Send {address} a nice email."
        yield f"Send {address} the usual text."
        yield f"Email {address} about the last order."
        yield f"Thank {address} by email."
        yield f"Apologise to {address} by email."
        yield f'Send an email with the subject "Sale" to {address} and a fitting body.'
        yield f"Отправь письмо на {address}."
    yield from ("Send an email.", "Send it.", "Email them.", "Отправь письмо.")


def of_several() -> Iterator[str]:
    for word in ("or", "or to", "or maybe"):
        yield f"Send an email to {ADA} {word} {BORIS} {TEXT}."
        yield f"Send an email to either {ADA} {word} {BORIS} {TEXT}."
    yield f'Send an email to {ADA} with the subject "Sale" or "Offer" and the body "Now on".'
    yield f'Send an email to {ADA} with the subject "Sale" and the body "Now on" or "Soon".'
    yield f"Отправь письмо на {ADA} или на {BORIS} с темой «Скидки» и текстом «До пятницы»."
    yield f"Find the customer {ADA} or {BORIS}, then send them an email {TEXT}."
    yield "Find the customer with the id 7 or 8."
    yield "Get the orders of the customer 7 or 8."


def of_no_customer() -> Iterator[str]:
    for verb in ("Find", "Look up", "Check", "Fetch"):
        yield from (f"{verb} the customer.", f"{verb} a customer.", f"{verb} customer.", f"{verb} the customer Ada.")
        yield f"{verb} the customer with the id seven."
        yield f"{verb} the customer, then send them an email {TEXT}."
        yield f"{verb} the customer and book the slot 10:00 on 2026-03-02 {CALL}."
    for who in ("the customer", "she", "Ada", "somebody"):
        yield f"Check if {who} is premium, then send them an email {TEXT}."
        yield f"If {who} is premium, send her an email {TEXT}."
    yield from ("Найди клиента.", "Найди клиента Аду.", "Покажи заказы клиента.", "Найди клиента и покажи его заказы.")


def of_nobodys_orders() -> Iterator[str]:
    for verb, who in product(("Get", "List", "Show"), ORDERS):
        yield f"{verb} the orders of {who}."
    yield from ("Get the orders.", "List orders.", "Show all orders.", "Look up the customer and show the orders.")
    yield f"Get the orders, then send {ADA} an email {TEXT}."


def of_no_slot() -> Iterator[str]:
    for verb, slot in product(("Book the slot", "Book a slot"), SLOTS):
        yield f"{verb} {slot}".strip() + "."
    yield from ("List the free slots.", "List the free slots on Monday.", "List the free slots on 2026-02-30.")
    yield from (
        f"Book the first free slot {CALL}.",
        f"Book the slot {CALL}.",
        "Забронируй слот.",
        "Забронируй слот 10:00.",
    )
    yield f"List the free slots and book the first {CALL}."


def for_no_tool() -> Iterator[str]:
    for verb in ("Delete", "Remove", "Cancel", "Refund", "Erase"):
        yield f"{verb} the customer {ADA}."
        yield f"{verb} the order 7."
    yield f"Transfer 100 to {ADA}."
    yield f"Pay {ADA} 50."


def tasks() -> list[str]:
    kinds = (to_nobody, without_a_text, of_several, of_no_customer, of_nobodys_orders, of_no_slot, for_no_tool)
    return [*dict.fromkeys(task for kind in kinds for task in kind())]
