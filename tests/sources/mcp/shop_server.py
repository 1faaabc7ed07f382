"""A small shop as an MCP server, with the official SDK: customers and orders, a mail outbox, a calendar.

    python shop_server.py --database shop.sqlite              over stdio
    python shop_server.py --database shop.sqlite --http 8123  at http://127.0.0.1:8123/mcp

The database is made on the first start. What was sent and booked can be read from it: tables `outbox` and `bookings`.
"""

from __future__ import annotations

import argparse
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

Tier = Literal["bronze", "silver", "gold"]
Day = Annotated[str, Field(description="A day, as 2026-03-02.", json_schema_extra={"format": "date"})]
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True)
SLOTS = ("09:00", "10:00", "11:00", "14:00", "15:00")

TABLES = """
create table customers (id integer primary key, name text, email text unique, tier text, country text);
create table orders (id integer primary key, customer_id integer, day text, total real, status text);
create table outbox (id integer primary key, key text unique, recipient text, subject text, body text);
create table bookings (id integer primary key, key text unique, day text, slot text, title text, unique (day, slot));
"""
CUSTOMERS = [
    (1, "Ada Brown", "ada@example.org", "gold", "Norway"),
    (2, "Boris Lind", "boris@example.org", "silver", "Latvia"),
    (3, "Chen Wu", "chen@example.org", "gold", "Singapore"),
    (4, "Dora Haas", "dora@example.org", "bronze", "Austria"),
]
ORDERS = [
    (101, 1, "2026-01-12", 250.0, "delivered"),
    (102, 1, "2026-02-03", 99.5, "open"),
    (103, 3, "2026-02-11", 1200.0, "delivered"),
    (104, 2, "2026-02-20", 35.25, "returned"),
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

    def __init__(self, database: Path) -> None:
        self._database = database
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

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._database)
        connection.row_factory = sqlite3.Row
        return connection


def serve(shop: Shop) -> MCPServer:
    server = MCPServer("shop")

    @server.tool(annotations=READS)
    def find_customer(email: str | None = None, id: int | None = None) -> Customer:
        """Find one customer by e-mail address or by number."""
        found = shop.rows("select * from customers where email = ? or id = ?", email, id)
        if len(found) != 1:
            raise ToolError("there is no such customer")
        return Customer(**found[0])

    @server.tool(annotations=READS)
    def list_customers(tier: Tier | None = None) -> list[Customer]:
        """List customers, all of them or those of one tier."""
        found = shop.rows("select * from customers where ?1 is null or tier = ?1 order by id", tier)
        return [Customer(**row) for row in found]

    @server.tool(annotations=READS)
    def get_orders(customer_id: int) -> list[Order]:
        """List the orders of one customer, by the customer's number."""
        query = "select id, day, total, status from orders where customer_id = ? order by id"
        return [Order(**row) for row in shop.rows(query, customer_id)]

    @server.tool(annotations=WRITES)
    def send_email(
        to: str,
        subject: Annotated[str, Field(max_length=200)],
        body: Annotated[str, Field(max_length=5_000)],
        context: Context[Any, Any],
    ) -> Sent:
        """Send an e-mail to one address."""
        key = idempotency_key(context)
        shop.write(
            "insert or ignore into outbox (key, recipient, subject, body) values (:key, :to, :subject, :body)",
            key=key,
            to=to,
            subject=subject,
            body=body,
        )
        return Sent(**shop.rows("select max(id) as id from outbox where ?1 is null or key = ?1", key)[0])

    @server.tool(annotations=READS)
    def list_free_slots(day: Day) -> list[str]:
        """List the hours of a day that are still free in the calendar."""
        taken = {row["slot"] for row in shop.rows("select slot from bookings where day = ?", day)}
        return [slot for slot in SLOTS if slot not in taken]

    @server.tool(annotations=WRITES)
    def book_slot(day: Day, slot: str, title: str, context: Context[Any, Any]) -> Booked:
        """Book a free hour of a day in the calendar."""
        key = idempotency_key(context)
        earlier = shop.rows("select id, day, slot from bookings where key = ?", key)
        if earlier:
            return Booked(**earlier[0])
        if slot not in list_free_slots(day):
            raise ToolError("the slot is not free")
        values = {"key": key, "day": day, "slot": slot, "title": title}
        shop.write("insert into bookings (key, day, slot, title) values (:key, :day, :slot, :title)", **values)
        return Booked(**shop.rows("select id, day, slot from bookings where day = ? and slot = ?", day, slot)[0])

    return server


def idempotency_key(context: Context[Any, Any]) -> str | None:
    """What the client calls this very effect: a second request with it does nothing more."""
    meta = context.request_context.meta or {}
    key = meta.get("idempotencyKey")
    return key if isinstance(key, str) else None


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--database", type=Path, required=True)
    parser.add_argument("--http", type=int, metavar="PORT")
    given = parser.parse_args()
    server = serve(Shop(given.database))
    if given.http is None:
        server.run()
    else:
        server.run("streamable-http", host="127.0.0.1", port=given.http)


if __name__ == "__main__":
    main()
