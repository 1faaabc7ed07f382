"""The description of the HTTP interface. The browser's types are generated from it."""

from __future__ import annotations

import json
import warnings
from typing import Any, cast

from pydantic.warnings import UnsupportedFieldAttributeWarning

from groundplan.service.http import create_app


def document() -> str:
    app = create_app(cast(Any, None), "")  # describing needs no project
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnsupportedFieldAttributeWarning)
        described = app.openapi()
    return json.dumps(described, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
