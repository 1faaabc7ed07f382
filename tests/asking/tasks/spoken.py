"""Questions made from the words of the example: every kind of question, in English and in Russian."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle, islice, product

ENGLISH = (
    "total {measure} by {group}",
    "average {measure} per {group} in {period}",
    "{measure} by {group} and {other} over time",
    "{grain} {measure} in {period}",
    "{grain} {measure} by {group}",
    "how many sales in each {group}",
    "top 3 {group} by {measure}",
    "which {group} has the lowest {measure}?",
    "share of {measure} by {group} in {period}",
    "distribution of {measure}",
    "find anomalies in {grain} {measure} by {group}",
    "compare {measure} by {group} in 2024 and 2025",
    "bar chart of {measure} by {group} except {value}",
    "total {measure} for {value} with units over 50",
    "list rows for {value} in {period}",
    "box plot of {measure} by {group}",
    "heatmap of {measure} by {group} and {other}",
    "summarize {measure}",
)
RUSSIAN = (
    "{measure_ru} по {group_ru}",
    "средняя {measure_ru} по {group_ru} за 2025 год",
    "топ 3 {group_ru} по {measure_ru}",
    "доля {measure_ru} по {group_ru}",
    "динамика {measure_ru} по месяцам",
    "сравни {measure_ru} за 2024 и 2025 годы",
    "сколько продаж по {group_ru} кроме {value}",
    "распределение {measure_ru}",
)
WORDS = {
    "measure": ("revenue", "cost", "units"),
    "group": ("region", "channel", "product category"),
    "other": ("channel", "product category", "region"),
    "grain": ("daily", "weekly", "monthly", "quarterly", "yearly"),
    "period": ("2024", "Q3 2025", "March 2025", "the last 90 days", "last year"),
    "value": ("West", "online", "Garden", "North"),
    "measure_ru": ("выручка", "затраты", "выручки"),
    "group_ru": ("регионам", "каналам", "категориям товаров"),
}

LOOSE = """
total average how many top 3 5 best bottom share of revenue cost units region regions channel product category West East
online by per and not except over under at least between 10 20 1.2.3 20k 5m 99999999999999999999 in 2024 Q3 last month
daily trend vs compare distribution anomalies list rows bar chart box plot heatmap table save 03/04/2025
выручка по регионам каналам сколько продаж кроме за 2025 год марте топ доля сравни больше строк
"""
"""Words to be put together anyhow."""


def questions(count: int) -> list[str]:
    """So many different ones, always the same, taken in turn from every template."""
    templates = cycle(_filled(template) for template in (*ENGLISH, *RUSSIAN))
    found: dict[str, None] = {}
    for filled in islice(templates, count * 20):
        found.update(dict.fromkeys(islice(filled, 1)))
        if len(found) == count:
            return list(found)
    raise ValueError(f"the templates make only {len(found)} questions; add one")


def _filled(template: str) -> Iterator[str]:
    names = [name for name in WORDS if f"{{{name}}}" in template]
    for words in product(*(WORDS[name] for name in names)):
        if len(set(words)) < len(words):
            continue  # by region and region
        yield template.format(**dict(zip(names, words, strict=True)))
