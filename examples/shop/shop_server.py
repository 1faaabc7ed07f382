"""A small shop as an MCP server, with the official SDK: customers and orders, a mail outbox, a calendar.

    python shop_server.py --database shop.sqlite              over stdio
    python shop_server.py --database shop.sqlite --http 8123  at http://127.0.0.1:8123/mcp

The database is made on the first start. What was sent and booked can be read from it: tables `outbox` and `bookings`.
With `--slow SECONDS` each call rests before and after its work, so that whoever asks can be stopped in between.
"""

from __future__ import annotations

import argparse
import sqlite3
import time
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

Tier = Literal["standard", "premium", "vip"]
Day = Annotated[date, Field(description="A day, as 2026-03-02.")]
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True)
SATURDAY = 5
SLOTS = ("09:00", "10:00", "11:00", "14:00", "15:00")

TABLES = """
create table customers (id integer primary key, name text, email text unique, tier text, country text);
create table orders (id integer primary key, customer_id integer, day text, total real, status text);
create table outbox (id integer primary key, key text unique, recipient text, subject text, body text);
create table bookings (id integer primary key, key text unique, day text, slot text, title text, unique (day, slot));
"""
CUSTOMERS = [
    (1, "Ada Brown", "ada@example.org", "premium", "Norway"),
    (2, "Boris Lind", "boris@example.org", "standard", "Latvia"),
    (3, "Chen Wu", "chen@example.org", "vip", "Singapore"),
    (4, "Dora Haas", "dora@example.org", "standard", "Austria"),
    (5, "Elif Kaya", "elif@example.org", "premium", "Turkey"),
    (6, "Femi Okoro", "femi@example.org", "vip", "Nigeria"),
]
ORDERS = [
    (101, 1, "2026-01-12", 250.0, "delivered"),
    (102, 1, "2026-02-03", 99.5, "open"),
    (103, 3, "2026-02-11", 1200.0, "delivered"),
    (104, 2, "2026-02-20", 35.25, "returned"),
    (105, 5, "2026-02-21", 120.0, "delivered"),
    (106, 5, "2026-02-25", 480.0, "open"),
    (107, 6, "2026-03-01", 75.0, "open"),
]


class Customer(BaseModel):
    id: int
    name: str
    email: str
    tier: Tier
    country: str


class Order(BaseModel):
    id: int
    day: str
    total: float
    status: str


class Sent(BaseModel):
    id: int


class Booked(BaseModel):
    id: int
    day: str
    slot: str


class Shop:
    """One connection for each request: the server may be asked from several at once."""

    def __init__(self, database: Path, slow: float = 0) -> None:
        self._database, self._slow = database, slow
        fresh = not database.exists()
        with closing(self._open()) as connection, connection:
            if fresh:
                connection.executescript(TABLES)
                connection.executemany("insert into customers values (?, ?, ?, ?, ?)", CUSTOMERS)
                connection.executemany("insert into orders values (?, ?, ?, ?, ?)", ORDERS)

    def rows(self, query: str, *values: object) -> list[dict[str, Any]]:
        with closing(self._open()) as connection:
            return [dict(row) for row in connection.execute(query, values)]

    def write(self, query: str, **values: object) -> None:
        with closing(self._open()) as connection, connection:
            connection.execute(query, values)

    def free(self, day: date) -> list[str]:
        if day.weekday() >= SATURDAY:
            return []
        taken = {row["slot"] for row in self.rows("select slot from bookings where day = ?", day.isoformat())}
        return [slot for slot in SLOTS if slot not in taken]

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """A rest before and after."""
        time.sleep(self._slow)
        yield
        time.sleep(self._slow)

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._database)
        connection.row_factory = sqlite3.Row
        return connection


def serve(shop: Shop) -> MCPServer:
    server = MCPServer("shop")
    offer_customers(server, shop)
    offer_mail(server, shop)
    offer_calendar(server, shop)
    return server


def offer_customers(server: MCPServer, shop: Shop) -> None:
    @server.tool(annotations=READS)
    def find_customer(email: str | None = None, id: int | None = None) -> Customer:
        """Find one customer by e-mail address or by number: name, tier and country."""
        with shop.at_work():
            found = shop.rows("select * from customers where email = ? or id = ?", email, id)
        if len(found) != 1:
            raise ToolError("there is no such customer")
        return Customer(**found[0])

    @server.tool(annotations=READS)
    def list_customers(tier: Tier | None = None) -> list[Customer]:
        """List customers, all of them or those of one tier."""
        with shop.at_work():
            found = shop.rows("select * from customers where ?1 is null or tier = ?1 order by id", tier)
        return [Customer(**row) for row in found]

    @server.tool(annotations=READS)
    def get_orders(customer_id: int) -> list[Order]:
        """List the orders of one customer, by the customer's number, the oldest first."""
        query = "select id, day, total, status from orders where customer_id = ? order by id"
        with shop.at_work():
            return [Order(**row) for row in shop.rows(query, customer_id)]


def offer_mail(server: MCPServer, shop: Shop) -> None:
    @server.tool(annotations=WRITES)
    def send_email(
        to: str,
        subject: Annotated[str, Field(max_length=200)],
        body: Annotated[str, Field(max_length=5_000)],
        context: Context[Any, Any],
    ) -> Sent:
        """Send an e-mail with a subject and a body to one address."""
        values = {"key": idempotency_key(context), "to": to, "subject": subject, "body": body}
        added = "insert or ignore into outbox (key, recipient, subject, body) values (:key, :to, :subject, :body)"
        with shop.at_work():
            shop.write(added, **values)
            return Sent(**shop.rows("select id from outbox where key = ?", values["key"])[0])


def offer_calendar(server: MCPServer, shop: Shop) -> None:
    @server.tool(annotations=READS)
    def list_free_slots(day: Day) -> list[str]:
        """List the hours of a day that are still free in the calendar; at the weekend there are none."""
        with shop.at_work():
            return shop.free(day)

    @server.tool(annotations=WRITES)
    def book_slot(day: Day, slot: str, title: str, context: Context[Any, Any]) -> Booked:
        """Book a free hour of a day in the calendar, under a title."""
        values = {"key": idempotency_key(context), "day": day.isoformat(), "slot": slot, "title": title}
        added = "insert or ignore into bookings (key, day, slot, title) values (:key, :day, :slot, :title)"
        with shop.at_work():
            if slot in shop.free(day):
                shop.write(added, **values)
            booked = shop.rows("select id, day, slot from bookings where key = ?", values["key"])
        if not booked:
            raise ToolError("the slot is not free")
        return Booked(**booked[0])


def idempotency_key(context: Context[Any, Any]) -> str:
    """What the client calls this very effect: a second request with it does nothing more."""
    key = (context.request_context.meta or {}).get("idempotencyKey")
    return key if isinstance(key, str) else uuid.uuid4().hex


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--database", type=Path, required=True)
    parser.add_argument("--http", type=int, metavar="PORT")
    parser.add_argument("--slow", type=float, default=0, metavar="SECONDS")
    given = parser.parse_args()
    server = serve(Shop(given.database, given.slow))
    if given.http is None:
        server.run()
    else:
        server.run("streamable-http", host="127.0.0.1", port=given.http)


if __name__ == "__main__":
    main()
