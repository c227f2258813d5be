"""Metadata of type hints."""

import dataclasses
import types
import typing
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NotRequired, Required, TypeAlias, Union

Hint: TypeAlias = Any


@dataclass(frozen=True, kw_only=True)
class Field:
    """Describes and bounds a value: `Annotated[int, Field(description="How many.", minimum=1)]`.

    A plain str is enough for a description: `Annotated[int, "How many."]`.
    """

    description: str | None = None
    title: str | None = None
    minimum: float | None = None
    maximum: float | None = None
    exclusive_minimum: float | None = None
    exclusive_maximum: float | None = None
    multiple_of: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    format: str | None = None
    min_items: int | None = None
    max_items: int | None = None
    examples: Sequence[Any] | None = None

    def keywords(self) -> dict[str, Any]:
        """Returns the equivalent keywords of JSON Schema."""
        given = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {_camel(name): value for name, value in given.items() if value is not None}


def is_required(hint: Hint, otherwise: bool) -> bool:
    """Returns whether a key is required. The class itself cannot tell for hints that are strings."""
    origin: Any = typing.get_origin(hint)
    if origin is Annotated:
        return is_required(typing.get_args(hint)[0], otherwise)
    return origin is Required if origin in (Required, NotRequired) else otherwise


def is_hashable(hint: Hint) -> bool:
    """Returns whether values of a hint can be in a set, as far as the hint tells."""
    origin: Any = typing.get_origin(hint)
    arguments = typing.get_args(hint)
    if origin is Annotated:
        return is_hashable(arguments[0])
    if origin in (Union, types.UnionType, tuple):
        return all(is_hashable(argument) for argument in arguments)
    made: Any = origin or hint
    if made is object or not isinstance(made, type):
        return True
    # A hint that accepts a list gets a list.
    return made.__hash__ is not None and not issubclass(list, made)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
