"""A forecast: a straight trend and, where the history has two of them, the season, fitted by least squares."""

from __future__ import annotations

import calendar
import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from groundplan.errors import ToolError

FEWEST = 6  # periods of history
SEASONS = {"day": 7, "week": 52, "month": 12, "quarter": 4, "year": 1}
NORMAL = 1.959964  # 95 of 100 values of a normal distribution lie within so many standard deviations
MONTHS = {"month": 1, "quarter": 3, "year": 12}
HISTORY, FORECAST = "history", "forecast"


def forecast(table: pa.Table, params: Mapping[str, Any]) -> pa.Table:
    """The history and, after it, so many periods with the limits between which 95 of 100 values are expected."""
    time, column, groups = params["time"], params["column"], list(params["by"])
    kind = table.schema.field(time).type
    rows = [row for row in table.to_pylist() if row[time] is not None]
    made: list[dict[str, Any]] = []
    for key in sorted({tuple(row[name] for name in groups) for row in rows}, key=str):
        own = [row for row in rows if tuple(row[name] for name in groups) == key]
        history = sorted((_day(row[time]), row[column]) for row in own)
        told = _continued(history, params["periods"], params["grain"], " ".join(map(str, key)))
        made += [dict(zip(groups, key, strict=True)) | row for row in told]
    fields = [pa.field(time, kind), *(table.schema.field(name) for name in groups)]
    numbers = [(name, pa.float64()) for name in (column, "low", "high")]
    schema = pa.schema([*fields, ("part", pa.string()), *numbers])
    names = {"period": time, "value": column}
    renamed = [{names.get(name, name): value for name, value in row.items()} for row in made]
    return pa.Table.from_pylist(renamed, schema=schema).select([time, *groups, column, "part", "low", "high"])


def _day(value: dt.date | dt.datetime) -> dt.date:
    return value.date() if isinstance(value, dt.datetime) else value


def _continued(history: Sequence[tuple[dt.date, Any]], periods: int, grain: str, who: str) -> list[dict[str, Any]]:
    of = f" of {who}" if who else ""
    after = _after(grain)
    if len(history) < FEWEST:
        raise ToolError(f"the history{of} has {len(history)} periods, and a forecast needs at least {FEWEST}")
    for (day, value), (following, _) in zip(history, [*history[1:], (None, None)], strict=True):
        if value is None or (following is not None and after(day) != following):
            raise ToolError(
                f"the history{of} has a gap after {day}, so that no forecast is made; fill it or ask for part"
            )
    values = np.array([float(value) for _, value in history])
    expected, spread = _fitted(values, periods, SEASONS[grain])
    told = [{"period": day, "part": HISTORY, "value": float(value)} for day, value in history]
    day = history[-1][0]
    for value, margin in zip(expected, spread, strict=True):
        day = after(day)
        told.append({"period": day, "part": FORECAST, "value": value, "low": value - margin, "high": value + margin})
    return told


def _fitted(values: np.ndarray, periods: int, season: int) -> tuple[list[float], np.ndarray]:
    """The expected values of the next periods, and how far 95 of 100 values lie from each at most."""
    count = len(values)
    season = season if count >= 2 * season else 1
    design = _design(np.arange(count + periods), season)
    known, ahead = design[:count], design[count:]
    weights, *_ = np.linalg.lstsq(known, values, rcond=None)
    rest = values - known @ weights
    freedom = count - known.shape[1]
    variance = float(rest @ rest) / freedom
    inverse = np.linalg.pinv(known.T @ known)
    leverage = np.einsum("ij,jk,ik->i", ahead, inverse, ahead)
    return [float(value) for value in ahead @ weights], _quantile(freedom) * np.sqrt(variance * (1 + leverage))


def _quantile(freedom: int) -> float:
    """Of Student's distribution, by its expansion around the normal one."""
    z = NORMAL
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)


def _design(places: np.ndarray, season: int) -> np.ndarray:
    """A constant, the trend, and one column for each place in the season but the first."""
    columns = [np.ones(len(places)), places.astype(float)]
    columns += [(places % season == place).astype(float) for place in range(1, season)]
    return np.column_stack(columns)


def _after(grain: str) -> Callable[[dt.date], dt.date]:
    def next_month(day: dt.date) -> dt.date:
        month = day.month - 1 + MONTHS[grain]
        year, month = day.year + month // 12, month % 12 + 1
        return dt.date(year, month, min(day.day, calendar.monthrange(year, month)[1]))

    if grain in MONTHS:
        return next_month
    return lambda day: day + dt.timedelta(days=7 if grain == "week" else 1)
