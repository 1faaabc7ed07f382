"""Settings from groundplan.toml and the environment, and the folders for cache and state."""

from __future__ import annotations

import hashlib
import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from platformdirs import user_cache_path, user_state_path
from pydantic import Field, JsonValue, ValidationError, ValidationInfo, field_validator

from groundplan import trust
from groundplan.column_settings import ColumnSettings
from groundplan.contracts.contract import Contract
from groundplan.contracts.plan import ROWS_WITHOUT_APPROVAL
from groundplan.contracts.roles import ROLES, Names, Roles
from groundplan.contracts.rollout import SETTINGS, VariantName
from groundplan.errors import TooMuch, UsageError
from groundplan.regular_files import read_regular

FILE = "groundplan.toml"
MOST_BYTES = 1_000_000  # of the file, and of each file with tools
MOST_TOOL_FILES = 100
NO_MODEL = "none"
ELSEWHERE = "set GROUNDPLAN_CACHE and GROUNDPLAN_STATE to folders of your own"
ADDRESS = "http://127.0.0.1:8080/v1"  # the example in messages
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Server(Contract):
    """A table [models.NAME] of groundplan.toml."""

    url: str  # up to and including /v1
    model: str  # the server's name for it; empty means the first model that the server lists
    api_key_env: str | None = None
    api_key_file: str | None = None

    @field_validator("url")
    @classmethod
    def _is_an_address(cls, url: str) -> str:
        """A URL without credentials, because URLs are shown in messages and keys must not be."""
        if not _is_address(url) or not urlsplit(url).hostname:
            raise ValueError(f"use a URL such as {ADDRESS}")
        if "@" in urlsplit(url).netloc:
            raise ValueError("the URL must not contain a user or password; set api_key_env or api_key_file instead")
        return url


class Endpoint(Server):
    """A model on an OpenAI-compatible server. It says where the key is stored, and never contains the key."""

    name: str  # the user's name for it, such as `qwen`


class SignInSettings(Contract):
    """The table [service.oidc.sign_in]: people sign in at the issuer to use the browser pages."""

    url: str  # the address of the service in the browser, such as https://groundplan.example.org
    client_id: Annotated[str, Field(min_length=1)]
    client_secret_env: str | None = None  # without a secret it is a public client
    scopes: Annotated[tuple[str, ...], Field(min_length=1)] = ("openid", "profile")
    name: Annotated[str, Field(max_length=60)] = ""  # on the button; by default the host of the issuer
    hours: Annotated[float, Field(gt=0, le=24 * 30)] = 8.0  # until one has to sign in again

    @field_validator("url")
    @classmethod
    def _is_an_origin(cls, url: str) -> str:
        """As a browser writes it in the header `Origin`."""
        origin = _origin(url)
        if not origin or not is_safe_address(url):
            raise ValueError("use an https URL without a path, such as https://groundplan.example.org")
        return origin

    @field_validator("scopes")
    @classmethod
    def _has_openid(cls, scopes: tuple[str, ...]) -> tuple[str, ...]:
        if "openid" not in scopes:
            raise ValueError('add "openid"; without it there is no ID token')
        return scopes


class OidcSettings(Contract):
    """The table [service.oidc]: whose bearer tokens are accepted beside keys."""

    issuer: str  # as the tokens' claim `iss` has it
    audience: Annotated[str, Field(min_length=1)]  # which the tokens' claim `aud` must contain
    tenant_claim: Annotated[str, Field(min_length=1)] = "tenant"
    role_claim: Annotated[str, Field(min_length=1)] = "role"  # `ask`, `read` or `admin`, or a list that has one
    default_role: Literal["ask", "none"] = "ask"  # if the claim names no role; with `none` such a token is refused
    sign_in: SignInSettings | None = None

    @field_validator("issuer")
    @classmethod
    def _is_safe(cls, issuer: str) -> str:
        if not is_safe_address(issuer) or "?" in issuer or "#" in issuer:
            raise ValueError("use an https URL without a query, such as https://login.example.org/")
        return issuer


class ServiceSettings(Contract):
    """The table [service] of groundplan.toml. Runs are limited in a service with a database; uploads always."""

    open_runs: Annotated[int, Field(ge=1)] = 100  # of a tenant: queued, running or waiting; more are refused
    active_runs: Annotated[int, Field(ge=1)] = 8  # of a tenant, at once, on all workers; more are queued
    minute_requests: Annotated[int, Field(ge=1)] = 6_000  # of a tenant, to each process; more are refused for a while
    keep_days: Annotated[float, Field(gt=0)] | None = None  # ended runs are deleted after so many days
    upload_bytes: Annotated[int, Field(ge=1)] = 100_000_000  # of one uploaded file
    upload_files: Annotated[int, Field(ge=0)] = 50  # uploaded files of a tenant; 0 allows none
    upload_total_bytes: Annotated[int, Field(ge=1)] = 1_000_000_000  # of all uploaded files of a tenant
    oidc: OidcSettings | None = None


class Variant(Contract):
    """A table [variants.NAME]: what differs from the settings while this variant answers."""

    model: Names | None = None
    roles: dict[str, JsonValue] = {}  # as in [roles]; what is not named stays as it is there
    strategy: str | None = None  # the planner to try first

    def roles_over(self, roles: Roles) -> Roles:
        """These roles with what the variant says of them."""
        return Roles.model_validate(_merged(roles.model_dump(), self.roles))


class Settings(Contract):
    """The keys of groundplan.toml."""

    source: str | None = None  # a file, a folder, a DuckDB file or a URL; a path is relative to the toml
    tools: str | None = None  # a folder with tools of your own, relative to the toml: YAML files and Python files
    timezone: str = "UTC"
    embeddings: str | None = None  # a sentence-transformers model; needs the extra `semantic`
    model: Names = ()  # names of [models.NAME] tables, smallest first
    roles: Roles = Roles()  # the table [roles]: what models are used for, and how much of them
    trace_questions: bool = False  # whether traces of a service hold the text of questions
    sources: dict[str, dict[str, JsonValue]] = {}  # tables [sources.NAME] such as gitlab; each source validates its own
    columns: dict[str, ColumnSettings] = {}  # tables [columns."COLUMN"] or [columns."TABLE.COLUMN"]
    rows_without_approval: Annotated[int, Field(ge=1)] = ROWS_WITHOUT_APPROVAL  # of a plan, as engines estimate them
    service: ServiceSettings = ServiceSettings()
    models: dict[str, Server] = {}  # tables [models.NAME] with url, model and api_key_env or api_key_file
    variants: dict[VariantName, Variant] = {}  # tables [variants.NAME], which `groundplan rollout` puts on trial

    @field_validator("variants")
    @classmethod
    def _fit_the_roles(cls, variants: dict[str, Variant], told: ValidationInfo) -> dict[str, Variant]:
        """With what a variant says of them, the roles are still valid."""
        if SETTINGS in variants:
            raise ValueError(f"{SETTINGS!r} is what stands outside of the variants; give this one another name")
        for name, variant in variants.items():
            try:
                variant.roles_over(told.data.get("roles", Roles()))
            except ValidationError as error:
                place = ".".join(map(str, error.errors()[0]["loc"]))
                raise ValueError(f"{name}.roles.{place}: {_said(error)}") from None
        return variants

    def variant(self, name: str) -> Variant:
        """By its name; `settings` changes nothing."""
        if name != SETTINGS and name not in self.variants:
            listed = ", ".join((SETTINGS, *self.variants))
            raise UsageError(f"there is no variant {name!r}; {FILE} has {listed}: add a table [variants.{name}]")
        return self.variants.get(name, Variant())

    def data(self, named: str | None, how: str) -> Any:
        """The data that a command names, or the settings' own; `how` it can be named is said if there is none."""
        data = named or self.source or self.sources
        if not data:
            raise UsageError(f"name the data: {how}")
        return data

    def columns_of(self, source: Any) -> Mapping[str, ColumnSettings]:
        """What is said about the columns of this source; other data than the settings' own has nothing said of it."""
        is_own = source in (self.source, self.sources) or (
            self.source is not None
            and isinstance(source, str)
            and Path(source).resolve() == Path(self.source).resolve()
        )
        return self.columns if is_own else {}

    def unused_columns(self, source: Any) -> str | None:
        """A remark if [columns] is not used for this source."""
        if not self.columns or self.columns_of(source):
            return None
        lacking = "is about other data" if self.source or self.sources else "names no data; add `source` to it"
        return f"[columns] of {FILE} is not used here: the file {lacking}"

    def roles_of(self, models: Sequence[Endpoint]) -> Roles:
        """The roles for these models; a command may name others than the settings do."""
        return self.roles.among(tuple(model.name for model in models))


def _merged(one: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Tables within tables, value by value."""
    told = {
        key: _merged(one[key], value) if isinstance(value, Mapping) and isinstance(one.get(key), Mapping) else value
        for key, value in over.items()
    }
    return {**one, **told}


def load_settings(folder: Path) -> Settings:
    """The folder's groundplan.toml, or the defaults. GROUNDPLAN_EMBEDDINGS and GROUNDPLAN_MODEL override it.

    Refused if the file wants more than to name local data and `groundplan trust` has not been run for its content.
    """
    content = _content(folder)
    written = _written(folder, content)
    set_outside = {key: os.environ.get(f"GROUNDPLAN_{key.upper()}") for key in ("embeddings", "model")}
    _refuse_unknown_models(folder, _validated(folder, written))  # named before trust is asked for
    trusted = _to_trust(written, load_tool_files(folder, written))
    if (wanted := trust.wants(written)) and not trust.is_trusted(folder / FILE, trusted, state_folder()):
        raise UsageError(_untrusted(folder, wanted))
    found = _validated(folder, written | {key: value for key, value in set_outside.items() if value})
    near = {"sources": {name: _beside(folder, given) for name, given in found.sources.items()}}
    if found.source and "://" not in found.source:
        return found.model_copy(update={"source": str(folder / found.source), **near})
    return found.model_copy(update=near)


def own_tools(folder: Path) -> Mapping[str, bytes]:
    """The files with tools that the folder's groundplan.toml names; refused unless this very content is trusted."""
    content = _content(folder)
    written = _written(folder, content)
    files = load_tool_files(folder, written)
    if files and not trust.is_trusted(folder / FILE, _to_trust(written, files), state_folder()):
        raise UsageError(_untrusted(folder, trust.wants(written)))
    return files


def load_tool_files(folder: Path, written: Mapping[str, Any]) -> Mapping[str, bytes]:
    """The YAML and Python files in the folder that the settings name, by their names; none if they name no folder."""
    if not written.get("tools"):
        return {}
    place = folder / str(written["tools"])
    try:
        names = sorted(path.name for path in place.iterdir() if path.suffix in (".yaml", ".py"))
        if len(names) > MOST_TOOL_FILES:
            raise UsageError(f"{place}: has {len(names)} files with tools; at most {MOST_TOOL_FILES} are read")
        return {name: read_regular(place / name, MOST_BYTES) for name in names}
    except OSError as error:
        raise UsageError(f"{place}: the tools that {FILE} names cannot be read: {error.strerror}") from error
    except TooMuch as error:
        raise UsageError(str(error)) from error


def _to_trust(written: Mapping[str, Any], files: Mapping[str, bytes]) -> bytes:
    """What trust is given to: all settings but what columns mean, and the files with tools, since they are code."""
    settings = {key: value for key, value in written.items() if key != "columns"}
    code = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    return json.dumps([settings, code], sort_keys=True, default=str).encode()


def wanted_by(folder: Path) -> tuple[tuple[str, ...], bytes]:
    """What the folder's groundplan.toml wants (commands, addresses, secrets, models), and what is trusted with it."""
    written = _written(folder, _content(folder))
    _validated(folder, written)
    files = load_tool_files(folder, written)
    code = tuple(f"tools: runs the Python code in {name}" for name in files if name.endswith(".py"))
    return (*trust.wants(written), *code), _to_trust(written, files)


def trust_folder(folder: Path, content: bytes | None = None) -> None:
    """Use the folder's groundplan.toml as long as it says this (by default, what it says now) beside `[columns]`."""
    trust.remember(folder / FILE, wanted_by(folder)[1] if content is None else content, state_folder())


def _content(folder: Path) -> bytes:
    file = folder / FILE
    try:
        return read_regular(file, MOST_BYTES)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from error
    except TooMuch as error:
        raise UsageError(str(error)) from error


def _written(folder: Path, content: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(content.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{folder / FILE}: not TOML: {error}") from error


def _validated(folder: Path, written: dict[str, Any]) -> Settings:
    try:
        return Settings.model_validate(written)
    except ValidationError as error:
        # the original error quotes the input, which may contain a key
        raise UsageError(_wrong(folder / FILE, error)) from None


def _refuse_unknown_models(folder: Path, settings: Settings) -> None:
    in_force = {"": (settings.model, settings.roles)}
    for called, variant in settings.variants.items():
        models = settings.model if variant.model is None else variant.model
        in_force[f"variants.{called}."] = models, variant.roles_over(settings.roles)
    for (place, (models, roles)), role in product(in_force.items(), ROLES):
        for name in roles.of(role).model:
            if name not in models:
                fault = f"{name!r} is not among the models of `model` ({', '.join(models) or 'none'}); add it there"
                raise UsageError(f"{folder / FILE}: {place}roles.{role}.model: {fault}")


def _untrusted(folder: Path, wanted: Sequence[str]) -> str:
    lines = "".join(f"\n  {line}" for line in wanted)
    return (
        f"{folder / FILE} is not trusted yet. It wants:{lines}\n"
        f"If you agree, run `groundplan trust {folder}`; if it is not yours, move it away."
    )


def _beside(folder: Path, given: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Resolve the paths of secret files relative to the toml."""
    return {
        key: str(folder / Path(value).expanduser()) if key.endswith("_file") and isinstance(value, str) else value
        for key, value in given.items()
    }


def load_models(folder: Path, named: str | None = None) -> tuple[Endpoint, ...]:
    """The models for a question, smallest first: those in `named`, or else those of the settings.

    A name refers to a table [models.NAME]; a URL means the first model that its server lists; `none` means no model.
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
        raise UsageError(f"the URL of a model: {_said(error)}") from None


def _is_address(text: str) -> bool:
    return text.startswith(("http://", "https://"))


def is_safe_address(url: str) -> bool:
    """Whether what this URL says can be believed: it is https or on this machine, without credentials."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    if not parts.hostname or "@" in parts.netloc:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)


def _origin(url: str) -> str | None:
    """The scheme, host and port of a URL that has nothing else; None if it is another."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return None
    if not url.isascii() or parts.path not in ("", "/") or "?" in url or "#" in url:
        return None
    shown = f"[{host}]" if ":" in host else host
    is_default = port is None or (parts.scheme, port) in (("https", 443), ("http", 80))
    return f"{parts.scheme}://{shown}" if is_default else f"{parts.scheme}://{shown}:{port}"


def _unknown(name: str, settings: Settings, folder: Path) -> str:
    near = get_close_matches(name, settings.models, n=1)
    hint = f"did you mean {near[0]!r}? Or" if near else "either"
    return (
        f"there is no model {name!r}: {folder / FILE} has no table [models.{name}]; {hint} add one with "
        f'url = "{ADDRESS}" and model = "…", or pass the URL itself: --model {ADDRESS}'
    )


def _wrong(file: Path, error: ValidationError) -> str:
    place = [str(part) for part in error.errors()[0]["loc"]]
    fault = f"{file}: {'.'.join(place)}: {_said(error)}"
    if place[0] == "models":
        return (
            f'{fault}; a table [models.NAME] has url = "{ADDRESS}", model = "…" and, if the server needs a key, '
            'api_key_env = "…" or api_key_file = "…": where the key is stored, never the key itself'
        )
    if place[0] == "model":
        return f'{fault}; write model = "qwen", or several, smallest first: model = ["qwen", "large"]'
    if place[0] == "roles":
        table = Roles.model_fields[place[1]].annotation if len(place) > 2 and place[1] in ROLES else Roles
        return f"{fault}; the settings here are {', '.join(getattr(table, 'model_fields', ()))}"
    return f"{fault}; the settings are {', '.join(Settings.model_fields)}"


def _said(error: ValidationError) -> str:
    return error.errors()[0]["msg"].removeprefix("Value error, ")


def read_secret(variable: str | None, file: str | None, setting: str, what: str = "token", who: str = "") -> str | None:
    """Read a secret from an environment variable or a file; None if neither is named."""
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
        raise UsageError(f"{where} has no {what}; set it, or remove the setting if the server needs none")
    return value.strip()


def cache_folder() -> Path:
    """The folder for what can be rebuilt: loaded files, compiled catalogs. Set `GROUNDPLAN_CACHE` to move it."""
    return _private(Path(os.environ.get("GROUNDPLAN_CACHE") or user_cache_path("groundplan")))


def state_folder() -> Path:
    """The folder for what must be kept: checkpoints, plans, effects. Set `GROUNDPLAN_STATE` to move it."""
    return _private(Path(os.environ.get("GROUNDPLAN_STATE") or user_state_path("groundplan")))


def _private(folder: Path) -> Path:
    """The folder, made if it is missing. Refused if somebody else could have put something into it."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        found = folder.stat()
    except OSError as error:
        raise UsageError(f"{folder}: cannot be used ({error.strerror}); {ELSEWHERE}") from error
    if hasattr(os, "getuid") and found.st_uid != os.getuid():
        raise UsageError(f"{folder}: belongs to another user, who could change what is stored there; {ELSEWHERE}")
    if os.name == "posix" and found.st_mode & 0o022:
        raise UsageError(f"{folder}: others may write to it; run `chmod go-w {folder}` if you trust its content")
    return folder
