"""Defaults: what is taken to be meant where the question does not say it."""

from __future__ import annotations

from typing import Literal, get_args

Default = Literal["present_people", "known_names", "main_date", "usual_function", "count_rows", "once_each", "chart"]
"""`present_people`: people who left are not counted. `known_names`: groups without a name or value are left out.
`main_date`: of several dates, the one that dates the rows. `usual_function`: amounts are summed, rates averaged.
`count_rows`: rows are counted where no measure is named. `once_each`: what all rows of a thing repeat counts once.
`chart`: a chart is drawn where it shows more than the table."""
DEFAULTS: tuple[Default, ...] = get_args(Default)
