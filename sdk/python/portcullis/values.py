"""Converts the answers of tools to JSON."""

import dataclasses
import datetime
import enum
import json
import math
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from decimal import Decimal
from pathlib import PurePath
from typing import Any
from uuid import UUID

# Maximum exponent of a decimal number that is written as a JSON number.
_DECIMAL_EXPONENT_MAX = 300


def dumps(value: Any) -> str:
    """Converts a value to one JSON document in valid UTF-8.

    Raises:
        TypeError: JSON cannot represent a value.
        ValueError: JSON cannot represent a number, or the value contains itself.
    """
    return sendable(json.dumps(value, default=_plain, ensure_ascii=False, allow_nan=False, separators=(",", ":")))


def loads(text: str) -> Any:
    """Parses a JSON document. Unlike `json.loads`, refuses `NaN`."""
    return json.loads(text, parse_constant=_refuse)


def sendable(text: object) -> str:
    """Replaces lone surrogates, which UTF-8 cannot encode and which would end the instance."""
    return str(text).encode(errors="replace").decode()


def _refuse(word: str) -> float:
    raise ValueError(f"{word} is not JSON")


def _plain(value: Any) -> Any:
    """Converts a type that `json` does not know."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (UUID, PurePath)):
        return str(value)
    if isinstance(value, AbstractSet):
        return sorted(value, key=repr)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Decimal):
        return _number(value)
    if hasattr(value, "__index__"):
        return value.__index__()
    if hasattr(value, "__float__"):
        number = float(value)
        if math.isfinite(number):
            return number
    raise TypeError(f"JSON cannot represent {type(value).__name__}: return a dict, a list, a dataclass or a str")


def _number(value: Decimal) -> int | float:
    """Converts a decimal number to a JSON number without losing digits."""
    if value.is_finite() and abs(value.adjusted()) <= _DECIMAL_EXPONENT_MAX:
        if value == value.to_integral_value():
            return int(value)
        number = float(value)
        if Decimal(repr(number)) == value:
            return number
    raise ValueError(f"{value} has more digits than a JSON number keeps: return str(...) or round(...) of it")
