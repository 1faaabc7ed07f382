"""Trust in a folder's groundplan.toml: asked for once per folder and content, if the file wants more than to name data.

A cloned folder can hold settings written by a stranger. A file that starts commands, names addresses, reads secrets or
loads models is used only after its reader has seen what it wants.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

FOLDER = "trusted"  # in the state folder: an empty marker for each trusted file and content
LOCAL = ("duckdb", "file", "sqlite")


def wants(written: Mapping[str, Any]) -> tuple[str, ...]:
    """What the settings ask for beyond naming local data, one line each. Empty if they need no trust."""
    return tuple(dict.fromkeys(_wants(written)))


def _wants(written: Mapping[str, Any]) -> Iterator[str]:
    source, models = str(written.get("source") or ""), written.get("model") or ()
    if "://" in source and source.partition("://")[0] not in LOCAL:
        yield f"source: connects to {_without_credentials(source)}"
    for model in models.split(",") if isinstance(models, str) else models:
        if "://" in str(model):
            yield f"model: sends questions to {str(model).strip()}"
    if written.get("tools"):
        yield f"tools: runs the Python code of the tools in the folder {written['tools']}"
    if written.get("embeddings"):
        yield f"embeddings: loads the model {written['embeddings']}"
    if written.get("trace_questions"):
        yield "trace_questions: puts the text of questions into traces"
    if oidc := (written.get("service") or {}).get("oidc"):
        yield f"[service.oidc] lets in whoever {_without_credentials(str(oidc.get('issuer')))} vouches for"
        if secret := (oidc.get("sign_in") or {}).get("client_secret_env"):
            yield f"[service.oidc.sign_in] {_want('client_secret_env', secret)}"
    for name, variant in (written.get("variants") or {}).items():
        named = variant.get("model") or ()
        for model in named.split(",") if isinstance(named, str) else named:
            if "://" in str(model):
                yield f"[variants.{name}] sends questions to {str(model).strip()}"
    for kind in ("sources", "models"):
        for name, table in (written.get(kind) or {}).items():
            for key, value in table.items():
                yield f"[{kind}.{name}] {_want(str(key), value)}"


def _want(key: str, value: object) -> str:
    said = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    if key == "mcp" and not said.startswith(("http://", "https://")):
        return f"runs the command: {said}"
    if key in ("mcp", "url"):
        return f"connects to {_without_credentials(said)}"
    if key == "env":
        return f"gives the command the environment variables: {said}"
    if key.endswith("_env"):
        return f"sends the secret in the environment variable {said}"
    if key.endswith("_file"):
        return f"sends the secret in the file {said}"
    return f"{key} = {said}"


def is_trusted(file: Path, content: bytes, state: Path) -> bool:
    return _marker(file, content, state).is_file()


def remember(file: Path, content: bytes, state: Path) -> None:
    """Trust this file as long as it has this content."""
    marker = _marker(file, content, state)
    marker.parent.mkdir(mode=0o700, exist_ok=True)
    marker.touch(mode=0o600)


def _marker(file: Path, content: bytes, state: Path) -> Path:
    """Of the folder that holds the file, not of what the file may link to: its commands run in that folder."""
    place = str(file.parent.resolve() / file.name).encode("utf-8", "surrogateescape")
    return state / FOLDER / hashlib.sha256(place + b"\0" + content).hexdigest()


def _without_credentials(url: str) -> str:
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path.partition('?')[0]}"
