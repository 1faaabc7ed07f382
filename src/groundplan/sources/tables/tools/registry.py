"""The table tools by name: lazy tools, tools that run a query first, functions over rows, and sinks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from groundplan.sources.interface import Call, Result
from groundplan.sources.tables.engine.executing import Work
from groundplan.sources.tables.engine.handle import Ask, Handle, Params, ToolOutput
from groundplan.sources.tables.tools.clusters import cluster
from groundplan.sources.tables.tools.dates import parse_datetime
from groundplan.sources.tables.tools.forecast import forecast
from groundplan.sources.tables.tools.measures import (
    aggregate,
    compare_periods,
    pivot,
    rank_rows,
    segment_metric,
    share_of_total,
)
from groundplan.sources.tables.tools.series import detect_anomalies, time_series_features
from groundplan.sources.tables.tools.shape import derive_column, filter_rows, select_columns
from groundplan.sources.tables.tools.sinks import draw, save_table, show_table
from groundplan.sources.tables.tools.statistics import compute_summary_stats, correlate, distribution_stats

LAZY: Mapping[str, Callable[[Handle, Params], Handle]] = {
    "filter_rows": filter_rows,
    "select_columns": select_columns,
    "segment_metric": segment_metric,
    "rank_rows": rank_rows,
    "share_of_total": share_of_total,
    "compare_periods": compare_periods,
    "compute_summary_stats": compute_summary_stats,
}
QUERYING: Mapping[str, Callable[[Handle, Params, Ask], ToolOutput]] = {
    "parse_datetime": parse_datetime,
    "derive_column": derive_column,
    "aggregate": aggregate,
    "pivot": pivot,
    "distribution_stats": distribution_stats,
    "correlate": correlate,
    "detect_anomalies": detect_anomalies,
    "time_series_features": time_series_features,
}
Function = Callable[[pa.Table, Mapping[str, Any]], pa.Table]
"""A tool over the rows themselves, which a project can bring too."""

FUNCTIONS: Mapping[str, Function] = {"forecast": forecast, "cluster": cluster}
SINKS: Mapping[str, Callable[[Call, Handle, Params, Work, str], Result]] = {
    "show_table": show_table,
    "save_table": save_table,
    "plot_line": draw,
    "plot_band": draw,
    "plot_bar": draw,
    "plot_area": draw,
    "plot_scatter": draw,
    "plot_histogram": draw,
    "plot_box": draw,
    "plot_heatmap": draw,
}
