"""The errors of the VizQL Data Service, as it documents them: the first three digits are the status."""

from __future__ import annotations

from typing import Any

CONDITIONS = {
    "400000": "Bad request",
    "400800": "Invalid formula for calculation",
    "400802": "Invalid API request",
    "400803": "Validation failed",
    "400804": "Response too large",
    "401002": "Invalid authorization credentials",
    "403157": "Feature disabled",
    "403800": "API access permission denied",
    "404004": "Data source not found",
    "404934": "Unknown field",
    "404935": "Duplicate field caption",
    "404950": "API endpoint not found",
    "405000": "Method not allowed",
    "408000": "Request timeout",
    "409000": "User already on site",
    "429000": "Too many requests",
    "500000": "Internal server error",
    "500810": "VizQL Data Service empty table response",
    "503800": "VizQL Data Service unavailable",
    "503801": "VizQL Data Service discovery error",
    "504000": "Tableau service timeout",
}


class Refused(Exception):
    """What the service says no with."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.message = code, message

    @property
    def status(self) -> int:
        return int(self.code[:3])

    def body(self) -> dict[str, Any]:
        return {
            "errorCode": self.code,
            "message": self.message,
            "datetime": "2026-01-15T10:00:00.000000Z",
            "tab-error-code": self.code,
        }


def refused(code: str, message: str = "") -> Refused:
    return Refused(code, message or CONDITIONS[code])
