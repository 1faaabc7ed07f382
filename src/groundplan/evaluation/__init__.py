"""Evaluation: suites of questions with known answers, and comparisons of strategies."""
