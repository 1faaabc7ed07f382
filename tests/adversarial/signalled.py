"""Runs the command line many times in forked children and sends each a signal at a random moment.

signalled.py FOLDER SIGNAL RUNS SEED: each run asks about FOLDER/sales.csv in a thread, with a report,
and prints a line of JSON.
Imports are done once, before the first fork, so that the moments fall into the run itself.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

BOUND = 30.0  # seconds in which a run ends after the signal, also on a busy machine


def ask(folder: Path, log: Path) -> None:
    """In the child: what `groundplan ask` does, with stdout and stderr in a file."""
    from groundplan.interfaces.cli import main

    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(file, 1)
    os.dup2(file, 2)
    words = ["ask", str(folder / "sales.csv"), "total revenue by region", "--thread", "t"]
    sys.argv = ["groundplan", *words, "--output", str(folder / "out")]
    code = 1
    try:
        main.main()
        code = 0
    except SystemExit as ending:
        code = ending.code if isinstance(ending.code, int) else 1
    sys.stdout.flush()
    os._exit(code)


def run(folder: Path, delay: float | None, number: int) -> dict[str, object]:
    log = folder / "log"
    (folder / "out").mkdir(exist_ok=True)
    child = os.fork()
    if child == 0:
        ask(folder, log)
    begun = time.monotonic()
    if delay is not None:
        time.sleep(delay)
        os.kill(child, number)
    sent = time.monotonic()
    while (ended := os.waitpid(child, os.WNOHANG))[0] == 0 and time.monotonic() - sent < BOUND:
        time.sleep(0.005)
    if ended[0] == 0:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return {"code": None, "text": "it did not end", "seconds": BOUND, "took": BOUND}
    now = time.monotonic()
    text = log.read_text(encoding="utf-8", errors="replace")
    return {"code": os.waitstatus_to_exitcode(ended[1]), "text": text, "seconds": now - sent, "took": now - begun}


def main(folder: Path, number: int, runs: int, seed: int) -> None:
    import groundplan.interfaces.cli.main
    import groundplan.interfaces.report
    import groundplan.project
    import groundplan.running.checkpoints
    import groundplan.sources.tables.source  # noqa: F401

    chance = random.Random(seed)
    whole = run(folder, None, number)
    print(json.dumps({**whole, "delay": None}), flush=True)
    for place in range(runs):
        shutil.rmtree(os.environ["GROUNDPLAN_CACHE"])  # so that the file is loaded each time
        Path(os.environ["GROUNDPLAN_CACHE"]).mkdir(mode=0o700)
        most = float(str(whole["took"])) / (1 if place % 2 else 4)  # a later run may well take less than the first
        delay = chance.uniform(0, most)
        print(json.dumps({**run(folder, delay, number), "delay": delay}), flush=True)
    print(json.dumps({**run(folder, None, number), "delay": None}), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
