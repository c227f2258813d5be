"""Answers as JSON: what a tool returns, in terms that JSON knows."""

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

# Powers of ten of a decimal number that is written as one; what is beyond them is no amount of anything.
_DECIMAL_EXPONENT_MAX = 300


def dumps(value: Any) -> str:
    """A value as one JSON document, which is whole UTF-8.

    Raises:
        TypeError: JSON has nothing for a value.
        ValueError: It has a number that JSON cannot say, or it contains itself.
    """
    return sendable(json.dumps(value, default=_plain, ensure_ascii=False, allow_nan=False, separators=(",", ":")))


def loads(text: str) -> Any:
    """A JSON document as a value. Unlike `json.loads`, it takes no `NaN`."""
    return json.loads(text, parse_constant=_refuse)


def sendable(text: object) -> str:
    """The text without lone surrogates, which no UTF-8 has and which would end the instance."""
    return str(text).encode(errors="replace").decode()


def _refuse(word: str) -> float:
    raise ValueError(f"{word} is not JSON")


def _plain(value: Any) -> Any:
    """What `json` asks for where it does not know a type."""
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
    raise TypeError(f"JSON has nothing for {type(value).__name__}: return a dict, a list, a dataclass or a text")


def _number(value: Decimal) -> int | float:
    """The number as JSON writes it, with every digit."""
    if value.is_finite() and abs(value.adjusted()) <= _DECIMAL_EXPONENT_MAX:
        if value == value.to_integral_value():
            return int(value)
        number = float(value)
        if Decimal(repr(number)) == value:
            return number
    raise ValueError(f"{value} has more digits than a number of JSON keeps: return str(...) or round(...) of it")
