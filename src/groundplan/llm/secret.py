"""A key by the name of where it is kept; its value is read when it is sent, and shown nowhere."""

from __future__ import annotations

import os
from pathlib import Path

from groundplan.errors import UsageError

HIDDEN = "[hidden]"
SHORTEST = 8  # characters: `EMPTY` and `ollama` are no secrets, and hiding them would spoil answers


def read_secret(variable: str | None, file: str | None) -> str | None:
    """From the environment or a file; None where the server wants no key."""
    if variable and file:
        raise UsageError("give api_key_env or api_key_file, not both")
    if variable:
        value = os.environ.get(variable, "").strip()
        where = f"the environment variable {variable}"
    elif file:
        path = Path(file)
        value = path.read_text(encoding="utf-8").strip() if path.is_file() else ""
        where = f"the file {file}"
    else:
        return None
    if not value:
        raise UsageError(f"{where} holds no key; set it, or leave the setting out for a server without keys")
    return value


def hide(text: str, secret: str | None) -> str:
    """The text as it may be kept: a server may send a key back."""
    return text.replace(secret, HIDDEN) if secret and len(secret) >= SHORTEST else text
