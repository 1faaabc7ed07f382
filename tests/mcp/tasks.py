"""Tasks for the shop: what a person asks, a plan for it written by hand, and the rows that it must leave behind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tests.mcp.workflows import proposal

ADA, BORIS, CHEN = "ada@example.org", "boris@example.org", "chen@example.org"
DORA, ELIF, FEMI = "dora@example.org", "elif@example.org", "femi@example.org"

MAILS = "select recipient, subject, body from outbox order by 1, 2, 3"
BOOKINGS = "select day, slot, title from bookings order by 1, 2"

Mail = tuple[str, str, str]
"""Recipient, subject and body."""
Booking = tuple[str, str, str]
"""Day, slot and title."""
Steps = list[dict[str, Any]]


@dataclass(frozen=True)
class Task:
    """The rows are what somebody who knows the customers expects; no plan is looked at for them."""

    kind: str
    words: str
    mails: tuple[Mail, ...]
    bookings: tuple[Booking, ...]
    plan: dict[str, Any]

    @property
    def changes_something(self) -> bool:
        return bool(self.mails or self.bookings)


def thank_if_premium(email: str, *bodies: str) -> Task:
    words = (
        f'Check if {email} is premium, then send them an email with the subject "Thank you" '
        'and the body "Dear {name}, thank you".'
    )
    body = {"$join": ["Dear ", {"$from": "customer.name"}, ", thank you"]}
    steps = [
        _find("customer", email),
        _router("tier", "customer", {"thanks": "customer.first.tier == 'premium'"}),
        _mail("thanks", {"$from": "customer.email"}, "Thank you", body, "tier", "customer"),
    ]
    return _task("thank if premium", words, steps, [(email, "Thank you", body) for body in bodies])


def one_of_two(email: str, sent: str) -> Task:
    texts = {"Thank you": "You are one of our best", "An offer": "Become premium and save"}
    words = (
        f'If {email} is premium, send an email to {email} with the subject "Thank you" and the body '
        '"You are one of our best", otherwise send an email with the subject "An offer" and the body '
        '"Become premium and save".'
    )
    steps = [
        _find("customer", email),
        _router("tier", "customer", {"thanks": "customer.first.tier == 'premium'"}, default="offer"),
        _mail("thanks", {"$from": "customer.email"}, "Thank you", texts["Thank you"], "tier", "customer"),
        _mail("offer", {"$from": "customer.email"}, "An offer", texts["An offer"], "tier", "customer"),
    ]
    return _task("one of two", words, steps, [(email, sent, texts[sent])])


def to_several(emails: tuple[str, str, str]) -> Task:
    first, second, third = emails
    words = (
        'Send an email with the subject "Closed on Friday" and the body "We are back on Monday" '
        f"to {first}, {second} and {third}."
    )
    subject, body = "Closed on Friday", "We are back on Monday"
    steps = [_mail(f"mail{number}", email, subject, body) for number, email in enumerate(emails)]
    return _task("to several", words, steps, [(email, subject, body) for email in emails])


def write_then_book(first: str, second: str) -> Task:
    words = (
        f'Find the customers {first} and {second}, send each of them an email with the subject "A call" and the body '
        '"We call you on Tuesday", and then book the slot 09:00 on 2026-12-01 with the title "Call them".'
    )
    subject, body = "A call", "We call you on Tuesday"
    booking = {"day": "2026-12-01", "slot": "09:00", "title": "Call them"}
    steps = [
        _find("one", first),
        _find("other", second),
        _mail("mail_one", {"$from": "one.email"}, subject, body, "one"),
        _mail("mail_other", {"$from": "other.email"}, subject, body, "other"),
        {"id": "call", "tool": "shop.book_slot", "params": booking, "needs": ["mail_one", "mail_other"]},
    ]
    mails = [(first, subject, body), (second, subject, body)]
    return _task("write then book", words, steps, mails, [("2026-12-01", "09:00", "Call them")])


def write_about_orders(email: str, *, has_some: bool) -> Task:
    words = (
        f'Get the orders of {email}; if there are any, send {email} an email with the subject "Your orders" '
        'and the body "Thank you for your orders".'
    )
    subject, body = "Your orders", "Thank you for your orders"
    steps = [
        *_orders(email),
        _router("any", "orders", {"mail": "orders.found"}),
        _mail("mail", {"$from": "customer.email"}, subject, body, "any", "customer"),
    ]
    return _task("write about orders", words, steps, [(email, subject, body)] if has_some else [])


def welcome_without_orders(email: str, *, has_some: bool) -> Task:
    words = (
        f'If {email} has no orders, send {email} an email with the subject "Welcome" '
        'and the body "Your first order ships free".'
    )
    subject, body = "Welcome", "Your first order ships free"
    steps = [
        *_orders(email),
        _router("none", "orders", {"mail": "!orders.found"}),
        _mail("mail", {"$from": "customer.email"}, subject, body, "none", "customer"),
    ]
    return _task("welcome without orders", words, steps, [] if has_some else [(email, subject, body)])


def one_of_three(email: str, sent: str) -> Task:
    texts = {"Gala": "You are invited", "Preview": "See it first", "News": "Here is what is new"}
    words = (
        f'If {email} is vip, send them an email with the subject "Gala" and the body "You are invited"; '
        f'if {email} is premium, send them an email with the subject "Preview" and the body "See it first"; '
        'otherwise send them an email with the subject "News" and the body "Here is what is new".'
    )
    routes = {"gala": "customer.first.tier == 'vip'", "preview": "customer.first.tier == 'premium'"}
    steps = [_find("customer", email), _router("tier", "customer", routes, default="news")]
    for subject, body in texts.items():
        steps.append(_mail(subject.lower(), {"$from": "customer.email"}, subject, body, "tier", "customer"))
    return _task("one of three", words, steps, [(email, sent, texts[sent])])


def book_a_free_slot(day: str, *slots: str) -> Task:
    words = f'If there is a free slot on {day}, book it with the title "Review".'
    booking = {"day": day, "slot": {"$from": "free.result"}, "title": "Review"}
    steps = [
        {"id": "free", "tool": "shop.list_free_slots", "params": {"day": day}},
        _router("any", "free", {"book": "free.found"}),
        {"id": "book", "tool": "shop.book_slot", "params": booking, "needs": ["any", "free"]},
    ]
    return _task("book a free slot", words, steps, [], [(day, slot, "Review") for slot in slots])


def write_about_a_large_order(email: str, *, is_large: bool) -> Task:
    words = (
        f'If the first order of {email} is over 200, send {email} an email with the subject "Large order" '
        'and the body "Thank you for your large order".'
    )
    subject, body = "Large order", "Thank you for your large order"
    steps = [
        *_orders(email),
        _router("large", "orders", {"mail": "orders.found && orders.first.total > 200.0"}),
        _mail("mail", {"$from": "customer.email"}, subject, body, "large", "customer"),
    ]
    return _task("write about a large order", words, steps, [(email, subject, body)] if is_large else [])


def each_their_own(sent: dict[str, str]) -> Task:
    texts = {"Thank you": "You are one of our best", "An offer": "Become premium and save"}
    first, second, third = sent
    words = (
        f"For {first}, {second} and {third}: if they are premium, send them an email with the subject "
        '"Thank you" and the body "You are one of our best", otherwise send them an email with the subject '
        '"An offer" and the body "Become premium and save".'
    )
    steps: Steps = []
    for number, email in enumerate(sent):
        customer, tier, found = f"customer{number}", f"tier{number}", {"$from": f"customer{number}.email"}
        is_premium = f"{customer}.first.tier == 'premium'"
        steps += [
            _find(customer, email),
            _router(tier, customer, {f"thanks{number}": is_premium}, default=f"offer{number}"),
            _mail(f"thanks{number}", found, "Thank you", texts["Thank you"], tier, customer),
            _mail(f"offer{number}", found, "An offer", texts["An offer"], tier, customer),
        ]
    return _task("each their own", words, steps, [(email, subject, texts[subject]) for email, subject in sent.items()])


def thank_in_russian(email: str, *, is_premium: bool) -> Task:
    subject, body = "Спасибо", "Спасибо за заказ"
    words = f'Проверь, что {email} premium, и отправь ей письмо с темой "{subject}" и текстом "{body}".'
    steps = [
        _find("customer", email),
        _router("tier", "customer", {"thanks": "customer.first.tier == 'premium'"}),
        _mail("thanks", {"$from": "customer.email"}, subject, body, "tier", "customer"),
    ]
    return _task("thank in Russian", words, steps, [(email, subject, body)] if is_premium else [])


def _find(id_: str, email: str) -> dict[str, Any]:
    return {"id": id_, "tool": "shop.find_customer", "params": {"email": email}}


def _orders(email: str) -> Steps:
    number = {"customer_id": {"$from": "customer.id"}}
    orders = {"id": "orders", "tool": "shop.get_orders", "params": number, "needs": ["customer"]}
    return [_find("customer", email), orders]


def _router(id_: str, on: str, routes: dict[str, str], default: str | None = None) -> dict[str, Any]:
    listed = [{"when": when, "to": to} for to, when in routes.items()]
    return {"id": id_, "kind": "router", "needs": [on], "routes": listed, "default": default}


def _mail(id_: str, to: object, subject: str, body: object, *needs: str) -> dict[str, Any]:
    params = {"to": to, "subject": subject, "body": body}
    return {"id": id_, "tool": "shop.send_email", "params": params, "needs": needs}


def _task(kind: str, words: str, steps: Steps, mails: Iterable[Mail], bookings: Iterable[Booking] = ()) -> Task:
    return Task(kind, words, tuple(sorted(mails)), tuple(bookings), proposal(steps, words))


TASKS: tuple[Task, ...] = (
    thank_if_premium(ADA, "Dear Ada Brown, thank you"),
    thank_if_premium(ELIF, "Dear Elif Kaya, thank you"),
    *(thank_if_premium(email) for email in (BORIS, CHEN, DORA, FEMI)),
    *(one_of_two(email, "Thank you") for email in (ADA, ELIF)),
    *(one_of_two(email, "An offer") for email in (BORIS, CHEN, DORA, FEMI)),
    to_several((ADA, BORIS, CHEN)),
    write_then_book(ADA, BORIS),
    *(write_about_orders(email, has_some=True) for email in (ADA, BORIS, CHEN, ELIF, FEMI)),
    write_about_orders(DORA, has_some=False),
    welcome_without_orders(DORA, has_some=False),
    *(welcome_without_orders(email, has_some=True) for email in (ADA, BORIS, CHEN, ELIF, FEMI)),
    *(one_of_three(email, "Gala") for email in (CHEN, FEMI)),
    *(one_of_three(email, "Preview") for email in (ADA, ELIF)),
    *(one_of_three(email, "News") for email in (BORIS, DORA)),
    book_a_free_slot("2026-12-02", "09:00"),
    book_a_free_slot("2026-12-05"),  # a Saturday
    *(write_about_a_large_order(email, is_large=True) for email in (ADA, CHEN)),
    *(write_about_a_large_order(email, is_large=False) for email in (BORIS, DORA, ELIF, FEMI)),
    each_their_own({ADA: "Thank you", BORIS: "An offer", DORA: "An offer"}),
    each_their_own({CHEN: "An offer", ELIF: "Thank you", FEMI: "An offer"}),
    thank_in_russian(ADA, is_premium=True),
    *(thank_in_russian(email, is_premium=False) for email in (BORIS, CHEN)),
)
