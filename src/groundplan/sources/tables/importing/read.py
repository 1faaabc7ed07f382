"""Reads files and folders of models into one Ossie model, each file by its format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from groundplan.contracts.schema import SourceSchema
from groundplan.errors import TooMuch, UsageError
from groundplan.regular_files import read_regular
from groundplan.sources.tables.importing import cube, dbt, lightdash
from groundplan.sources.tables.importing.collected import Collected, whole_file
from groundplan.sources.tables.schema.model_file import MOST_BYTES, Model, load_model, written
from groundplan.text.located_yaml import File, Located, whole

DBT, CUBE = frozenset({"semantic_models", "metrics", "models"}), frozenset({"cubes", "views"})
ENDINGS = (".yml", ".yaml", ".json")
BUILT = frozenset({"target", "dbt_packages", "dbt_modules", "node_modules"})
MOST_FILES = 2_000


def import_models(where: Path, schema: SourceSchema, beside: Path) -> tuple[str, list[str]]:
    """The model file of the data with what the files say, and what was left out, with file and line.

    What the file `beside` the data says already stays.
    """
    known = load_model(beside).content.value if beside.is_file() else {}
    models = known.get("semantic_model") or [{}]
    collected = collect(where, Collected(schema.source, models[0]))
    content, faults = Model(collected).fitted(schema)
    listed = [*content["semantic_model"], *models[1:]]
    return written({**content, "semantic_model": listed}), [*collected.lint, *faults]


def collect(where: Path, into: Collected) -> Collected:
    """Everything that the files say; what cannot be expressed is in `lint`."""
    files = [found for path in _paths(where) if (found := _loaded(path, into)) is not None]
    kinds = [(file, {*whole_file(file).value}) for file in files]
    of_dbt = [file for file, keys in kinds if keys & DBT]
    of_cube = [file for file, keys in kinds if keys & CUBE]
    if not of_dbt and not of_cube and not into.lint:
        raise UsageError(f"{where} has no models of dbt, Cube or Lightdash: no YAML file with models, metrics or cubes")
    dbt.collect(of_dbt, into)
    lightdash.collect(of_dbt, into)
    cube.collect(of_cube, into)
    return into


def _paths(where: Path) -> Sequence[Path]:
    if where.is_file():
        return [where]
    if not where.is_dir():
        raise UsageError(f"{where} is no file and no folder; name the models")
    found = [*islice(_inside(where), MOST_FILES + 1)]
    if len(found) > MOST_FILES:
        raise UsageError(f"{where} has more than {MOST_FILES} model files; name a smaller folder")
    return sorted(found)


def _inside(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        inner = path.relative_to(folder).parts
        if path.suffix in ENDINGS and not BUILT & {*inner} and not any(part.startswith(".") for part in inner):
            yield path


def _loaded(path: Path, into: Collected) -> Located | None:
    try:
        content = read_regular(path, MOST_BYTES)
    except OSError as error:
        into.note(f"is not read: {error.strerror}", f"{path}:1")
    except TooMuch as error:
        into.note(f"is not read: {error}", f"{path}:1")
    else:
        return whole(File(path, content), into.lint)
    return None
