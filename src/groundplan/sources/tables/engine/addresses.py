"""Engines that Ibis reaches by their address: Trino, Snowflake, BigQuery, ClickHouse.

They are as safe as the role that connects: give it the right to read and no other.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from groundplan.errors import UsageError
from groundplan.sources.tables.engine.credentials import cannot_open
from groundplan.sources.tables.engine.other_engine import Other

PASSWORDS = {
    "bigquery": None,  # Google's driver finds its own credentials
    "clickhouse": "CLICKHOUSE_PASSWORD",
    "snowflake": "SNOWFLAKE_PASSWORD",
    "trino": "TRINO_PASSWORD",
}
"""The variable that may hold the password, by scheme: it need not be in the address."""


def open_address(url: str) -> Other:
    """Through `ibis.connect`, whose documentation says what an address holds."""
    scheme = url.partition("://")[0]
    try:
        import_module(f"ibis.backends.{scheme}")
    except ImportError as error:
        raise UsageError(_no_driver(scheme)) from error

    import ibis

    variable = PASSWORDS[scheme]
    secret = os.environ.get(variable, "") if variable else ""
    try:
        given: dict[str, Any] = {"password": secret} if secret and not urlsplit(url).password else {}
        return Other(ibis.connect(url, **given), private=True)
    except ImportError as error:
        raise UsageError(_no_driver(scheme)) from error
    except Exception as error:  # noqa: BLE001 - each driver has errors of its own
        raise cannot_open(url, error, secret) from None


def _no_driver(scheme: str) -> str:
    return f"{scheme} needs a driver: pip install 'groundplan[{scheme}]'"
