"""What a check of an export is made of: types that lose nothing, and a walk through a schema."""

import functools
import json
import re

import pydantic
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

# The keywords with one subschema, with several by location, and with several by name.
ONE = (
    "items additionalProperties not if then else contains propertyNames unevaluatedItems unevaluatedProperties".split()
)
PLACED = ("anyOf", "oneOf", "allOf", "prefixItems")
NAMED = ("properties", "patternProperties", "$defs", "dependentSchemas")


class Refused(Exception):
    """Something that a provider would not take, and where it is."""

    def __init__(self, at, why):
        super().__init__(why)
        self.at = at


def require(condition, at, why):
    if not condition:
        raise Refused(at, why)


def pointer(at, *tokens):
    """The JSON Pointer to something below."""
    return at + "".join("/" + str(token).replace("~", "~0").replace("/", "~1") for token in tokens)


def plain(value):
    """What a type made of a value, as JSON. A field that takes any iterable is validated as it is read, so here."""
    if isinstance(value, pydantic.BaseModel):
        return plain(value.model_dump(mode="json", by_alias=True, exclude_unset=True))
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, (str, int, float, type(None))):
        return value
    return [plain(inner) for inner in value]


def same(told, kept, at=""):
    """Holds what a type kept against what it was told."""
    if isinstance(told, dict) and isinstance(kept, dict):
        for name in sorted(told.keys() | kept.keys()):
            require(name in kept, pointer(at, name), "the type drops it")
            require(name in told, pointer(at, name), "the type adds it")
            same(told[name], kept[name], pointer(at, name))
    elif isinstance(told, list) and isinstance(kept, list):
        require(len(told) == len(kept), at, f"{len(told)} entries became {len(kept)}")
        for place, (before, after) in enumerate(zip(told, kept)):
            same(before, after, pointer(at, place))
    else:
        number = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in (told, kept))
        alike = told == kept and (number or type(told) is type(kept))
        require(alike, at, f"{json.dumps(told)} became {json.dumps(kept)}")


@functools.cache
def adapter(kind):
    """Lives as long as the program: what a lazy field hands out needs it."""
    return pydantic.TypeAdapter(kind)


def typed(kind, value, at=""):
    """Validates a value, all of it, by a type that must keep all of it."""
    same(value, plain(adapter(kind).validate_python(value)), at)


def named(name, pattern, at="/name"):
    require(re.fullmatch(pattern, name), at, f"{name!r} is no name that the provider takes")


def below(schema, at):
    """The schemas right below a schema, with the place of each."""
    for keyword in ONE:
        if keyword in schema:
            yield pointer(at, keyword), schema[keyword]
    for keyword in PLACED:
        for place, inner in enumerate(schema.get(keyword, ())):
            yield pointer(at, keyword, place), inner
    for keyword in NAMED:
        for name, inner in schema.get(keyword, {}).items():
            yield pointer(at, keyword, name), inner


def walk(schema, at):
    """A schema that is no mere yes or no, and all that are below it."""
    if isinstance(schema, dict):
        yield at, schema
        for place, inner in below(schema, at):
            yield from walk(inner, place)


def types(schema):
    """The words under `type`."""
    words = schema.get("type", [])
    return [words] if isinstance(words, str) else words


def json_schema(schema, at):
    """A schema of the newest revision, for an object with parameters."""
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise Refused(pointer(at, *error.absolute_path), error.message) from error
    require(schema.get("type") == "object", pointer(at, "type"), "parameters are no object")


def resolved(root, reference, at):
    """What a local reference points at."""
    require(re.fullmatch(r"#(/.*)?", reference), at, f"{reference!r} is no pointer into the schema")
    found = root
    for token in reference.split("/")[1:]:
        token = token.replace("~1", "/").replace("~0", "~")
        found = found[int(token)] if isinstance(found, list) else found.get(token)
        require(found is not None, at, f"{reference!r} points at nothing")
    return found
