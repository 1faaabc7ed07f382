"""Removes API keys from text that a server sends back."""

from __future__ import annotations

HIDDEN = "[hidden]"
SHORTEST = 8  # characters: `EMPTY` and `ollama` are not secrets, and hiding them would garble answers


def hide(text: str, secret: str | None) -> str:
    """The text with the secret replaced, so that it can be logged or stored."""
    return text.replace(secret, HIDDEN) if secret and len(secret) >= SHORTEST else text
