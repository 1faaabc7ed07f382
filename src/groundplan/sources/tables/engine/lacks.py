"""What each engine lacks, in the words of `contracts/needs.py`; the others lack nothing.

`tests/sources/tables/test_lacks.py` finds it by compiling a sample of everything for each engine.
"""

from __future__ import annotations

from collections.abc import Mapping

LACKS: Mapping[str, tuple[str, ...]] = {
    "bigquery": ("format unix_milliseconds", "format unix_seconds"),
    "clickhouse": ("format unix_milliseconds",),
    "databricks": ("format unix_milliseconds", "format unix_seconds"),
    "mssql": (
        "format DD.MM.YYYY",
        "format DD/MM/YYYY",
        "format MM/DD/YYYY",
        "format YYYY",
        "format YYYY-MM",
        "format YYYY-MM-DD",
        "format YYYYMMDD",
        "format unix_milliseconds",
        "format unix_seconds",
        "grain day",
        "grain month",
        "grain quarter",
        "grain week",
        "grain year",
        "kind among",
        "kind date_cut",
        "kind elapsed",
        "operation days_between",
        "place end",
        "place start",
        "season hour",
        "season month",
        "season weekday",
        "tool detect_anomalies",
        "tool distribution_stats",
        "tool parse_datetime",
        "tool plot_box",
        "tool plot_histogram",
        "tool rank_rows",
        "tool time_series_features",
    ),
}
