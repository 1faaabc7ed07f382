"""A key that a server sends back is shown nowhere."""

from __future__ import annotations

HIDDEN = "[hidden]"
SHORTEST = 8  # characters: `EMPTY` and `ollama` are no secrets, and hiding them would spoil answers


def hide(text: str, secret: str | None) -> str:
    """The text as it may be kept: a server may send a key back."""
    return text.replace(secret, HIDDEN) if secret and len(secret) >= SHORTEST else text
