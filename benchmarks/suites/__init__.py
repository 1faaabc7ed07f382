"""Suites of questions by others: charts, tools, graphs, passages, tables from the web and workflows."""
