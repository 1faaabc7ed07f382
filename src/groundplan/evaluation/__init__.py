"""How well it works, measured: suites of questions with known answers."""
