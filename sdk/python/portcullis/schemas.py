"""Converts type hints to JSON Schema 2020-12, and JSON values to the types of the hints.

Each type becomes a `Shape`: its schema for the model, and the function that parses a value. Objects are closed.
"""

import dataclasses
import datetime
import enum
import math
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal, NotRequired, Required, TypeAlias, Union
from uuid import UUID

from . import docstrings
from .failures import DefinitionError
from .hints import Field, Hint, is_hashable, is_required

Schema: TypeAlias = dict[str, Any]
Parse: TypeAlias = Callable[[Any, str], Any]


class Mismatch(Exception):
    """A value does not match its type. The text says where, and what was expected."""

    def __init__(self, where: str, expected: str) -> None:
        super().__init__(f"{where or 'the value'} must be {expected}")


@dataclass(frozen=True)
class Shape:
    """A type: its schema for the model and its parser for Python."""

    schema: Schema
    parse: Parse


# Types that are one JSON string or number, with their schema, JSON type, parser and name.
_PLAIN: dict[type, tuple[Schema, type | tuple[type, ...], Callable[[Any], Any], str]] = {
    str: ({"type": "string"}, str, str, "a string"),
    float: ({"type": "number"}, (int, float), float, "a number"),
    datetime.datetime: (
        {"type": "string", "format": "date-time"}, str, datetime.datetime.fromisoformat, "a date and time, ISO 8601",
    ),
    datetime.date: ({"type": "string", "format": "date"}, str, datetime.date.fromisoformat, "a date, ISO 8601"),
    datetime.time: ({"type": "string", "format": "time"}, str, datetime.time.fromisoformat, "a time, ISO 8601"),
    UUID: ({"type": "string", "format": "uuid"}, str, UUID, "a UUID"),
    Path: ({"type": "string"}, str, Path, "a path"),
    PurePath: ({"type": "string"}, str, PurePath, "a path"),
}  # fmt: skip


def shape_of(hint: Hint) -> Shape:
    """Returns the shape of a type. A recursive type is under `$defs` of the schema.

    Raises:
        DefinitionError: JSON cannot represent the type, or the type is not specific enough.
    """
    builder = _Builder()
    shape = builder.shape(hint)
    if builder.definitions:
        return Shape(shape.schema | {"$defs": builder.definitions}, shape.parse)
    return shape


def describe(shape: Shape, description: str | None) -> Shape:
    """Returns the shape with a description, unless it has its own."""
    if not description or "description" in shape.schema:
        return shape
    return Shape({"description": description} | shape.schema, shape.parse)


def record(name: str, members: Mapping[str, tuple[Shape, bool]]) -> tuple[Schema, Parse]:
    """Returns the schema and the parser of a closed object. Each member has a shape and whether it is required."""
    required = [member for member, (_, is_given) in members.items() if is_given]
    schema: Schema = {
        "type": "object",
        "properties": {member: shape.schema for member, (shape, _) in members.items()},
        "additionalProperties": False,
    }
    if required:
        schema["required"] = required

    def parse(value: Any, where: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise Mismatch(where, f"an object of {name}")
        for member in value:
            if member not in members:
                raise Mismatch(_at(where, member), "left out: the name is unknown")
        for member in required:
            if member not in value:
                raise Mismatch(_at(where, member), "given")
        return {member: members[member][0].parse(given, _at(where, member)) for member, given in value.items()}

    return schema, parse


class _Builder:
    """Builds the shapes of one schema, so that a recursive class is defined only once."""

    def __init__(self) -> None:
        self.definitions: dict[str, Schema] = {}
        self._open: dict[type, list[Parse]] = {}
        self._recursive: set[type] = set()

    def shape(self, hint: Hint) -> Shape:
        """Returns the shape of any hint."""
        if hint is Any or hint is object:
            return Shape({}, lambda value, where: value)
        if hint is None or hint is types.NoneType:
            return Shape({"type": "null"}, _null)
        if hint is bool:
            return Shape({"type": "boolean"}, _boolean)
        if hint is int:
            return Shape({"type": "integer"}, _integer)
        if isinstance(hint, type) and hint in _PLAIN:
            return _plain(hint)
        if isinstance(hint, type) and not typing.get_args(hint):
            return self._class(hint)
        return self._generic(hint)

    def _class(self, hint: type) -> Shape:
        if issubclass(hint, enum.Enum):
            return _enumeration(hint)
        if dataclasses.is_dataclass(hint):
            return self._object(hint, self._dataclass)
        if typing.is_typeddict(hint):
            return self._object(hint, self._typed_dict)
        if issubclass(hint, dict):
            return self._mapping((str, Any))
        if issubclass(hint, tuple):
            return self._named_tuple(hint) if hasattr(hint, "_fields") else self._array(tuple, ())
        if issubclass(hint, list):
            return self._array(list, ())
        if hasattr(hint, "model_json_schema"):
            raise DefinitionError(
                f"{hint.__name__} is a model of pydantic, which has no build for WebAssembly: use a dataclass"
            )
        raise DefinitionError(f"JSON cannot represent {hint.__qualname__}: use a dataclass or a built-in type")

    def _generic(self, hint: Hint) -> Shape:
        origin: Any = typing.get_origin(hint)
        arguments = typing.get_args(hint)
        if origin is Annotated:
            return self._annotated(arguments[0], arguments[1:])
        if origin in (Required, NotRequired):
            return self.shape(arguments[0])
        if origin in (Union, types.UnionType):
            return self._union(arguments)
        if origin is Literal:
            return _choice(list(arguments), dict(zip(map(_key, arguments), arguments, strict=True)))
        if hasattr(hint, "__value__"):
            return self.shape(hint.__value__)
        if isinstance(origin, type) and issubclass(origin, tuple):
            return self._tuple(arguments)
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return self._mapping(arguments)
        if isinstance(origin, type) and issubclass(origin, AbstractSet):
            if arguments and not is_hashable(arguments[0]):
                raise DefinitionError(f"a set cannot hold {arguments[0]!r}: use list[...], or a frozen dataclass")
            array = self._array(frozenset if origin is frozenset else set, arguments)
            return Shape(array.schema | {"uniqueItems": True}, array.parse)
        if isinstance(origin, type) and issubclass(list, origin):
            return self._array(list, arguments)
        raise DefinitionError(f"JSON cannot represent {hint!r}")

    def _annotated(self, hint: Hint, notes: Sequence[Any]) -> Shape:
        shape = self.shape(hint)
        schema: Schema = {}
        for note in notes:
            if isinstance(note, str):
                schema["description"] = note
            elif isinstance(note, Field):
                schema |= note.keywords()
        return Shape(_first_description(shape.schema | schema), shape.parse)

    def _union(self, hints: Sequence[Hint]) -> Shape:
        shapes = [self.shape(hint) for hint in hints]

        def parse(value: Any, where: str) -> Any:
            mismatches = []
            for shape in shapes:
                try:
                    return shape.parse(value, where)
                except Mismatch as mismatch:
                    mismatches.append(mismatch)
            # For `X | None`, report the mismatch with X.
            meant = [mismatch for mismatch, hint in zip(mismatches, hints, strict=True) if hint is not types.NoneType]
            raise meant[0] if len(meant) == 1 else Mismatch(where, "of one of its allowed types")

        kinds = [shape.schema.get("type") for shape in shapes]
        if int in hints and float in hints:
            kinds.remove("integer")
        if all(list(shape.schema) == ["type"] and isinstance(shape.schema["type"], str) for shape in shapes):
            names = list(dict.fromkeys(kinds))
            return Shape({"type": names if len(names) > 1 else names[0]}, parse)
        if len(shapes) == 2 and kinds[1] == "null" and isinstance(kinds[0], str) and "enum" not in shapes[0].schema:
            return Shape(shapes[0].schema | {"type": [kinds[0], "null"]}, parse)
        return Shape({"anyOf": [shape.schema for shape in shapes]}, parse)

    def _array(self, make: Callable[[list[Any]], Any], arguments: Sequence[Hint]) -> Shape:
        item = self.shape(arguments[0] if arguments else Any)

        def parse(value: Any, where: str) -> Any:
            if not isinstance(value, list):
                raise Mismatch(where, "an array")
            items = [item.parse(each, f"{where}[{index}]") for index, each in enumerate(value)]
            try:
                return make(items)
            except TypeError as error:
                # A set with an item type that Python cannot hash.
                raise Mismatch(where, "an array of strings, numbers, booleans and nulls") from error

        return Shape({"type": "array", "items": item.schema} if item.schema else {"type": "array"}, parse)

    def _tuple(self, arguments: Sequence[Hint]) -> Shape:
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return self._array(tuple, arguments)
        items = [self.shape(argument) for argument in arguments]

        def parse(value: Any, where: str) -> Any:
            if not isinstance(value, list) or len(value) != len(items):
                raise Mismatch(where, f"an array of {len(items)}")
            return tuple(
                item.parse(each, f"{where}[{at}]") for at, (item, each) in enumerate(zip(items, value, strict=True))
            )

        schema: Schema = {"type": "array", "prefixItems": [item.schema for item in items], "items": False}
        return Shape(schema | {"minItems": len(items), "maxItems": len(items)}, parse)

    def _named_tuple(self, hint: Any) -> Shape:
        hints = typing.get_type_hints(hint, include_extras=True)
        items = self._tuple([hints.get(name, Any) for name in hint._fields])
        return Shape(items.schema, lambda value, where: hint._make(items.parse(value, where)))

    def _mapping(self, arguments: Sequence[Hint]) -> Shape:
        key, value_hint = arguments or (str, Any)
        if key is not str:
            raise DefinitionError("the keys of a JSON object must be str: use dict[str, ...]")
        item = self.shape(value_hint)

        def parse(value: Any, where: str) -> Any:
            if not isinstance(value, dict):
                raise Mismatch(where, "an object")
            return {name: item.parse(each, _at(where, name)) for name, each in value.items()}

        return Shape({"type": "object", "additionalProperties": item.schema or True}, parse)

    def _object(self, hint: type, build: Callable[[type], tuple[Schema, Parse]]) -> Shape:
        name = hint.__name__
        reference = {"$ref": f"#/$defs/{name}"}
        if hint in self._open:
            self._recursive.add(hint)
            later = self._open[hint]
            return Shape(reference, lambda value, where: later[0](value, where))
        known: list[Parse] = []
        self._open[hint] = known
        schema, parse = build(hint)
        known.append(parse)
        del self._open[hint]
        if hint in self._recursive:
            self.definitions[name] = schema
            return Shape(reference, parse)
        return Shape(schema, parse)

    def _dataclass(self, hint: type) -> tuple[Schema, Parse]:
        hints = typing.get_type_hints(hint, include_extras=True)
        summary, words = _words(hint)
        members: dict[str, tuple[Shape, bool]] = {}
        for field in dataclasses.fields(hint):
            if not field.init:
                continue
            words_of_field = field.metadata.get("description") or words.get(field.name)
            shape = describe(self.shape(hints[field.name]), words_of_field)
            has_default = field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
            members[field.name] = (with_default(shape, field.default), not has_default)
        schema, parse = record(hint.__name__, members)
        if summary:
            schema = {"description": summary} | schema
        return schema, lambda value, where: _make(hint, parse(value, where), where)

    def _typed_dict(self, hint: type) -> tuple[Schema, Parse]:
        hints = typing.get_type_hints(hint, include_extras=True)
        summary, words = _words(hint)
        required: frozenset[str] = getattr(hint, "__required_keys__", frozenset())
        members = {
            name: (describe(self.shape(each), words.get(name)), is_required(each, name in required))
            for name, each in hints.items()
        }
        schema, parse = record(hint.__name__, members)
        return ({"description": summary} | schema if summary else schema), parse


def with_default(shape: Shape, default: Any) -> Shape:
    """Returns the shape with its default, if JSON can represent it."""
    if default is dataclasses.MISSING or default is None:
        return shape
    value = default.value if isinstance(default, enum.Enum) else default
    if not isinstance(value, (str, int, float, bool)) or (isinstance(value, float) and not math.isfinite(value)):
        return shape
    return Shape(shape.schema | {"default": value}, shape.parse)


def _words(hint: type) -> tuple[str, dict[str, str]]:
    """Returns the parsed docstring of a class; empty if Python generated it."""
    text = hint.__doc__ or ""
    return docstrings.parse("" if text.startswith(f"{hint.__name__}(") else text)


def _make(hint: type, members: dict[str, Any], where: str) -> Any:
    try:
        return hint(**members)
    except ValueError as error:
        # `__post_init__` refused the values.
        raise Mismatch(where, f"a {hint.__name__}: {error}") from error


def _plain(hint: type) -> Shape:
    schema, written, read, words = _PLAIN[hint]

    def parse(value: Any, where: str) -> Any:
        if isinstance(value, bool) or not isinstance(value, written):
            raise Mismatch(where, words)
        try:
            return read(value)
        except ValueError as error:
            raise Mismatch(where, words) from error

    return Shape(dict(schema), parse)


def _boolean(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise Mismatch(where, "true or false")
    return value


def _integer(value: Any, where: str) -> int:
    # JSON Schema calls 5.0 an integer.
    if isinstance(value, bool) or not (isinstance(value, int) or (isinstance(value, float) and value.is_integer())):
        raise Mismatch(where, "an integer")
    return int(value)


def _null(value: Any, where: str) -> None:
    if value is not None:
        raise Mismatch(where, "null")


def _enumeration(hint: type[enum.Enum]) -> Shape:
    return _choice([member.value for member in hint], {_key(member.value): member for member in hint})


def _choice(values: list[Any], members: dict[tuple[type, Any], Any]) -> Shape:
    """Returns the shape of an enumeration. Values are compared with their type: `True` is not 1."""
    kinds = {str: "string", bool: "boolean", int: "integer", float: "number", types.NoneType: "null"}
    if any(type(value) not in kinds for value in values):
        raise DefinitionError("the values of a choice must be str, int, float, bool or None")

    def parse(value: Any, where: str) -> Any:
        try:
            return members[_key(value)]
        except (KeyError, TypeError) as error:
            raise Mismatch(where, f"one of {', '.join(repr(each) for each in values)}") from error

    names = list(dict.fromkeys(kinds[type(value)] for value in values))
    return Shape({"type": names[0] if len(names) == 1 else names, "enum": values}, parse)


def _key(value: Any) -> tuple[type, Any]:
    return (type(value), value)


def _first_description(schema: Schema) -> Schema:
    return {"description": schema["description"]} | schema if "description" in schema else schema


def _at(where: str, member: str) -> str:
    return f"{where}.{member}" if where else member
