"""A model of the Ossie project is loaded, written and loaded again; what cannot be expressed has its file and line."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from groundplan.sources.tables.schema.model_file import load_model, written
from groundplan.sources.tables.source import Tables

PART = Path(__file__).with_name("tpcds_part.yaml")
pytestmark = pytest.mark.requirement("R73", part="ossie")


def test_what_is_written_is_what_was_loaded(tmp_path: Path) -> None:
    content = load_model(PART).content.value
    (tmp_path / "again.yaml").write_text(written(content))
    assert load_model(tmp_path / "again.yaml").content.value == content


def test_what_the_language_cannot_say_is_listed_and_left_out(tmp_path: Path) -> None:
    (tmp_path / "store_sales.csv").write_text(
        "ss_item_sk,ss_ticket_number,ss_customer_sk,ss_ext_sales_price\n1,1,7,10\n2,1,7,20\n1,2,8,12\n"
    )
    (tmp_path / "customer.csv").write_text("c_customer_sk,c_first_name,c_last_name\n7,Ann,Bo\n8,Cy,Di\n")
    schema = asyncio.run(Tables.open(tmp_path).describe())
    content, faults = load_model(PART).fitted(schema)
    lines = PART.read_text().splitlines()
    told = [fault.removeprefix(f"{PART}:").partition(": ") for fault in faults]
    assert [(lines[int(line) - 1].strip(), what) for line, _, what in told] == [
        (
            "- name: customer_full_name",
            "field 'customer_full_name': \"c_first_name || ' ' || c_last_name\" is not supported",
        ),
        ("expression:", "metric 'store_productivity': its columns need their tables, with a path between them"),
    ]
    (tmp_path / "semantic_model.yaml").write_text(written(content))
    (link,) = asyncio.run(Tables.open(tmp_path).describe()).relationships
    assert (link.text, link.known) == ("store_sales → customer by ss_customer_sk", "declared")
