"""Reads Excel workbooks in a child process with limits.

Two filled cells far apart make the reader allocate everything between them, and the process ends when that fails. So it
is not this process.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa

from groundplan.child_process import REFUSED, limit_this_process, run_module
from groundplan.errors import SourceError

MOST_BYTES = 200_000_000  # of the file
MOST_MEMORY = 4_000_000_000
MOST_SECONDS = 120


def read_excel(path: Path) -> dict[str, pa.Table]:
    """Sheets by name, in the workbook's order."""
    if path.stat().st_size > MOST_BYTES:
        raise SourceError(f"{path}: is larger than {MOST_BYTES:,} bytes; save it as CSV or Parquet")
    with TemporaryDirectory(prefix="groundplan-") as folder:
        try:
            done = run_module(__name__, [str(path.resolve()), folder], MOST_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise SourceError(f"{path}: could not be read in {MOST_SECONDS} s") from error
        if done.returncode == REFUSED:
            raise SourceError(f"{path}: {done.stderr.decode(errors='replace').strip()}")
        if done.returncode != 0:
            raise SourceError(f"{path}: is damaged, or needs more than {MOST_MEMORY:,} bytes of memory to read")
        return _loaded(Path(folder))


def _loaded(folder: Path) -> dict[str, pa.Table]:
    sheets: dict[str, pa.Table] = {}
    for file in sorted(folder.glob("*.arrow")):
        with pa.OSFile(str(file)) as source, pa.ipc.open_file(source) as reader:
            table = reader.read_all()
        name = (table.schema.metadata or {})[b"sheet"].decode()
        sheets[name] = table.replace_schema_metadata(None)
    return sheets


def main(path: str, folder: str) -> int:
    """In the child: read the workbook and store each sheet."""
    limit_this_process(MOST_MEMORY, MOST_SECONDS)
    from groundplan.sources.tables.files.excel import Unreadable, sheets_of

    try:
        sheets = sheets_of(Path(path))
    except Unreadable as error:
        sys.stderr.write(f"{error}\n")
        return REFUSED
    for number, (name, table) in enumerate(sheets.items()):
        named = table.replace_schema_metadata({"sheet": name})
        with pa.ipc.new_file(str(Path(folder) / f"{number:05}.arrow"), named.schema) as writer:
            writer.write_table(named)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
