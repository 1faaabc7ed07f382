"""Reads YAML by libyaml where it is there: ten times as fast as the reader in Python."""

from __future__ import annotations

from typing import Any

import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load_yaml(text: str) -> Any:
    """The values that the text holds; raises `yaml.YAMLError`."""
    return yaml.load(text, Loader=LOADER)  # noqa: S506 - a safe loader
