"""Where things are kept on this machine, and what a folder's groundplan.toml says."""

from __future__ import annotations

import os
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from platformdirs import user_cache_path, user_state_path
from pydantic import BeforeValidator, JsonValue, ValidationError, field_validator

from groundplan.contracts.contract import Contract
from groundplan.errors import UsageError

FILE = "groundplan.toml"
NO_MODEL = "none"
ADDRESS = "http://127.0.0.1:8080/v1"  # as an example


class Server(Contract):
    """A table [models.NAME] of groundplan.toml."""

    url: str  # up to and including /v1
    model: str  # as the server calls it; empty: the first one that it lists
    api_key_env: str | None = None
    api_key_file: str | None = None

    @field_validator("url")
    @classmethod
    def _is_an_address(cls, url: str) -> str:
        """Without a password: an address is shown, a key never."""
        if not _is_address(url) or not urlsplit(url).hostname:
            raise ValueError(f"write an address such as {ADDRESS}")
        if "@" in urlsplit(url).netloc:
            raise ValueError("an address holds no user and no password; name the key by api_key_env or api_key_file")
        return url


class Endpoint(Server):
    """A model on an OpenAI-compatible server. The key is named here, never held."""

    name: str  # as people call it: `qwen`


def _split(names: object) -> object:
    return tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else names


class Settings(Contract):
    """The keys of groundplan.toml."""

    source: str | None = None  # a file, a folder, a DuckDB file or a URL; a path is relative to the toml
    timezone: str = "UTC"
    embeddings: str | None = None  # a sentence-transformers model; needs the extra `semantic`
    model: Annotated[tuple[str, ...], BeforeValidator(_split)] = ()  # names of tables below, the smallest first
    sources: dict[str, dict[str, JsonValue]] = {}  # tables [sources.NAME] such as gitlab; each source checks its own
    models: dict[str, Server] = {}  # tables [models.NAME] with url, model and api_key_env or api_key_file


def load_settings(folder: Path) -> Settings:
    """Of this folder; the defaults where it has no groundplan.toml. GROUNDPLAN_EMBEDDINGS and GROUNDPLAN_MODEL win."""
    file = folder / FILE
    set_outside = {key: os.environ.get(f"GROUNDPLAN_{key.upper()}") for key in ("embeddings", "model")}
    try:
        written = tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        found = Settings.model_validate(written | {key: value for key, value in set_outside.items() if value})
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{file}: not TOML: {error}") from error
    except ValidationError as error:
        raise UsageError(_wrong(file, error)) from None  # the error holds what was written, and that may be a key
    near = {"sources": {name: _beside(folder, given) for name, given in found.sources.items()}}
    if found.source and "://" not in found.source:
        return found.model_copy(update={"source": str(folder / found.source), **near})
    return found.model_copy(update=near)


def _beside(folder: Path, given: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Files that hold secrets are named from where the toml lies."""
    return {
        key: str(folder / Path(value).expanduser()) if key.endswith("_file") and isinstance(value, str) else value
        for key, value in given.items()
    }


def load_models(folder: Path, named: str | None = None) -> tuple[Endpoint, ...]:
    """The models that a question may ask, the smallest first: those of the settings, or those `named` instead.

    A name is that of a table [models.NAME], an address stands for the first model its server lists, `none` for none.
    """
    settings = load_settings(folder)
    names = settings.model if named is None else Settings.model_validate({"model": named}).model
    if names == (NO_MODEL,):
        return ()
    return tuple(_endpoint(name, settings, folder) for name in names)


def _endpoint(name: str, settings: Settings, folder: Path) -> Endpoint:
    if _is_address(name):
        return _at(name)
    if name not in settings.models:
        raise UsageError(_unknown(name, settings, folder))
    server = settings.models[name]
    kept = str(folder / Path(server.api_key_file).expanduser()) if server.api_key_file else None
    return Endpoint(name=name, **server.model_dump(exclude={"api_key_file"}), api_key_file=kept)


def _at(url: str) -> Endpoint:
    try:
        return Endpoint(name="model", url=url, model="")
    except ValidationError as error:
        raise UsageError(f"the address of a model: {_said(error)}") from None


def _is_address(text: str) -> bool:
    return text.startswith(("http://", "https://"))


def _unknown(name: str, settings: Settings, folder: Path) -> str:
    near = get_close_matches(name, settings.models, n=1)
    hint = f"did you mean {near[0]!r}? Or" if near else "either"
    return (
        f"there is no model {name!r}: {folder / FILE} has no table [models.{name}]; {hint} add one with "
        f'url = "{ADDRESS}" and model = "…", or give the address itself: --model {ADDRESS}'
    )


def _wrong(file: Path, error: ValidationError) -> str:
    place = [str(part) for part in error.errors()[0]["loc"]]
    fault = f"{file}: {'.'.join(place)}: {_said(error)}"
    if place[0] == "models":
        return (
            f'{fault}; a table [models.NAME] has url = "{ADDRESS}", model = "…" and, where the server wants a key, '
            'api_key_env = "…" or api_key_file = "…": where the key is kept, never the key itself'
        )
    if place[0] == "model":
        return f'{fault}; write model = "qwen", or several, the smallest first: model = ["qwen", "large"]'
    return f"{fault}; it knows {', '.join(Settings.model_fields)}"


def _said(error: ValidationError) -> str:
    return error.errors()[0]["msg"].removeprefix("Value error, ")


def read_secret(variable: str | None, file: str | None, setting: str, what: str = "token", who: str = "") -> str | None:
    """What an environment variable or a file holds; None where neither is named, for a server that wants none."""
    if variable and file:
        raise UsageError(f"{f'{who}: ' if who else ''}give {setting}_env or {setting}_file, not both")
    if variable:
        value, where = os.environ.get(variable, ""), f"the environment variable {variable}"
    elif file:
        path = Path(file).expanduser()
        value, where = path.read_text(encoding="utf-8") if path.is_file() else "", f"the file {file}"
    else:
        return None
    if not value.strip():
        raise UsageError(f"{where} holds no {what}; set it, or leave the setting out for a server without {what}s")
    return value.strip()


def cache_folder() -> Path:
    """What can be made again: loaded files, compiled catalogs. `GROUNDPLAN_CACHE` moves it."""
    return _private(Path(os.environ.get("GROUNDPLAN_CACHE") or user_cache_path("groundplan")))


def state_folder() -> Path:
    """What must survive: checkpoints of runs. `GROUNDPLAN_STATE` moves it."""
    return _private(Path(os.environ.get("GROUNDPLAN_STATE") or user_state_path("groundplan")))


def _private(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder
