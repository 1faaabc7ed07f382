"""Addresses and errors without the password that they may contain."""

from __future__ import annotations

import re
from urllib.parse import unquote

from groundplan.errors import SourceError


def without_password(url: str) -> str:
    """The address without user, password and options, also if it is malformed. A path stays as it is."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        return re.sub(r"[^/]+:[^@]+@", "", url)
    return f"{scheme}://{rest.rpartition('@')[2].partition('?')[0]}"


def cannot_open(url: str, error: Exception, known: str = "") -> SourceError:
    """The error for an address. A message that repeats a part of the credentials, or the known secret, is left out."""
    said, shown = str(error).strip(), without_password(url)
    rest = url.partition("://")[2]
    user, _, password = rest.rpartition("@")[0].partition(":")
    secret = f"{password} {rest.partition('?')[2]} {known}"
    repeated = said.replace(f'"{user}"', "")  # a password may be the user's name
    if any(part in repeated for part in re.findall(r"\w{3,}", f"{secret} {unquote(secret)}")):
        said = f"the address is not valid ({type(error).__name__})"
    return SourceError(f"{shown}: cannot be opened: {said}")
