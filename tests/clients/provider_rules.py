"""What providers refuse although their types take it: rules that their documents, or their answers, state."""

import copy

from anthropic import transform_schema
from openai.lib._pydantic import _ensure_strict_json_schema

from provider_shapes import below, named, pointer, require, resolved, same, types, walk

FORMATS = {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}

# The keywords that each provider accepts, in the modes that restrict them.
OPENAI = set(
    "type description title properties required additionalProperties items enum anyOf $ref $defs pattern format"
    " multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minItems maxItems".split()
)
ANTHROPIC = set(
    "type description title properties required additionalProperties items enum const anyOf allOf $ref $defs pattern"
    " format default minItems".split()
)
GEMINI = set(
    "$id $defs $ref $anchor type format title description enum items prefixItems minItems maxItems minimum maximum"
    " anyOf oneOf properties additionalProperties required propertyOrdering".split()
)

# The limits for one schema in OpenAI's strict mode.
OPENAI_PROPERTIES = 5_000
OPENAI_LEVELS = 10
OPENAI_CHARACTERS = 120_000
OPENAI_VALUES = 1_000

# The limits for all strict tools of one request.
ANTHROPIC_TOOLS = 20
ANTHROPIC_OPTIONAL = 24
ANTHROPIC_UNIONS = 16


def known(schema, keywords, at):
    strange = sorted(schema.keys() - keywords)
    require(not strange, pointer(at, *strange[:1]), "a keyword that the provider does not take")


def lonely(schema, at):
    """A reference stands alone."""
    require("$ref" not in schema or len(schema) == 1, at, "keywords beside $ref")


def closed(schema, at):
    if "object" in types(schema) or "properties" in schema:
        require(schema.get("additionalProperties") is False, pointer(at, "additionalProperties"), "an open object")


def no_union(root, keywords, at):
    found = sorted(root.keys() & set(keywords.split()))
    require(not found, pointer(at, *found[:1]), "not taken at the top level")


def openai(root, at):
    """Also without the strict mode."""
    no_union(root, "oneOf anyOf allOf enum const not", at)
    require("properties" in root, at, "object schema missing properties")
    for place, schema in walk(root, at):
        require("array" not in types(schema) or "items" in schema, place, "array schema missing items")


def openai_strict(root, at):
    for place, schema in walk(root, at):
        known(schema, OPENAI, place)
        lonely(schema, place)
        closed(schema, place)
        require(schema.keys() & {"type", "anyOf", "$ref"}, place, "schema must have a 'type' key")
        require(schema.get("format", "date") in FORMATS, pointer(place, "format"), "not a format that it knows")
        missing = sorted(schema.get("properties", {}).keys() - set(schema.get("required", [])))
        require(not missing, pointer(place, "required"), f"not required: {missing}")
        for inner, value in below(schema, place):
            keyword = inner[len(place) + 1 :]
            require(isinstance(value, dict) or keyword == "additionalProperties", inner, "a schema of true or false")
    openai_limits(root, at)
    mended = copy.deepcopy(root)
    same(ordered(root), ordered(_ensure_strict_json_schema(mended, path=(), root=mended)), at)


def ordered(schema):
    """The same with the names that are required in one order, for the order means nothing."""
    if isinstance(schema, list):
        return [ordered(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    names = schema.get("required")
    return {
        name: sorted(names) if name == "required" and isinstance(names, list) else ordered(inner)
        for name, inner in schema.items()
    }


def openai_limits(root, at):
    schemas = [schema for _, schema in walk(root, at)]
    names = [name for schema in schemas for name in [*schema.get("properties", {}), *schema.get("$defs", {})]]
    values = [value for schema in schemas for value in schema.get("enum", [])]
    properties = sum(len(schema.get("properties", {})) for schema in schemas)
    require(properties <= OPENAI_PROPERTIES, at, "too many properties")
    require(len(values) <= OPENAI_VALUES, at, "too many values in enums")
    require(sum(len(str(text)) for text in names + values) <= OPENAI_CHARACTERS, at, "too many characters in names")
    require(levels(root, at) <= OPENAI_LEVELS, at, "too deep")


def levels(schema, at):
    """How many objects are inside of one another."""
    if not isinstance(schema, dict):
        return 0
    return ("properties" in schema) + max((levels(inner, place) for place, inner in below(schema, at)), default=0)


def anthropic(root, at):
    """Also without the strict mode."""
    no_union(root, "oneOf anyOf allOf", at)
    for name in root.get("properties", {}):
        named(name, r"[a-zA-Z0-9_.-]{1,64}", pointer(at, "properties", name))


def anthropic_strict(root, at):
    for place, schema in walk(root, at):
        known(schema, ANTHROPIC, place)
        lonely(schema, place)
        closed(schema, place)
        require(schema.get("minItems", 0) in (0, 1), pointer(place, "minItems"), "more than one")
        formats = FORMATS | {"uri"}
        require(schema.get("format", "date") in formats, pointer(place, "format"), "not a format that it knows")
        require("$ref" not in schema or not circular(root, schema, place), place, "recursion")
        for inner, value in below(schema, place):
            keyword = inner[len(place) + 1 :]
            require(isinstance(value, dict) or keyword == "additionalProperties", inner, "a schema of true or false")
    # The SDK has the same function for schemas that are not for this mode. It moves two keywords of a tool into words
    # that the mode takes as they are, and leaves out the type of listed values, which say it themselves.
    same(kept_by_anthropic(root), kept_by_anthropic(transform_schema(kept_by_anthropic(root))), at)


def kept_by_anthropic(schema):
    if isinstance(schema, list):
        return [kept_by_anthropic(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    less = {"default", "pattern"} | ({"type"} if schema.keys() & {"enum", "const"} else set())
    names = ("properties", "$defs")
    kept = {
        name: {key: kept_by_anthropic(value) for key, value in inner.items()}
        if name in names
        else inner
        if name in ("enum", "const", "required")
        else kept_by_anthropic(inner)
        for name, inner in schema.items()
        if name not in less
    }
    return kept | {"properties": kept.get("properties", {})} if kept.get("type") == "object" else kept


def anthropic_budget(tools):
    """What one request may have of all that is strict."""
    strict = [tool for tool in tools if tool.get("strict")]
    require(len(strict) <= ANTHROPIC_TOOLS, "", "too many strict tools")
    schemas = [schema for tool in strict for _, schema in walk(tool["input_schema"], "")]
    optional = sum(len(schema.get("properties", {}).keys() - set(schema.get("required", []))) for schema in schemas)
    require(optional <= ANTHROPIC_OPTIONAL, "", "too many optional parameters")
    unions = sum("anyOf" in schema or len(types(schema)) > 1 for schema in schemas)
    require(unions <= ANTHROPIC_UNIONS, "", "too many parameters with unions")


def circular(root, schema, at):
    """Whether a reference leads back to itself."""
    followed, ahead = [], [schema]
    while ahead:
        found = resolved(root, ahead.pop()["$ref"], at)
        onward = [inner for _, inner in walk(found, at) if "$ref" in inner]
        if any(inner is schema for inner in onward):
            return True
        ahead += [inner for inner in onward if all(inner is not before for before in followed)]
        followed += onward
    return False


def gemini(root, at):
    for place, schema in walk(root, at):
        known(schema, GEMINI, place)
        beside = [name for name in schema if not name.startswith("$")]
        require("$ref" not in schema or not beside, place, "keywords beside $ref")
        plain = all(type(value) in (str, int, float) for value in schema.get("enum", []))
        require(plain, pointer(place, "enum"), "neither texts nor numbers")
        for name in schema.get("required", []):
            inner = schema.get("properties", {}).get(name)
            loops = isinstance(inner, dict) and "$ref" in inner and circular(root, inner, place)
            require(not loops, pointer(place, "properties", name), "recursion through what is required")


def gemini_openapi(root, at):
    require(root.get("properties"), pointer(at, "properties"), "should be non-empty for OBJECT type")
    for place, schema in walk(root, at):
        word = schema.get("type", "").upper()
        require(word or "anyOf" in schema, place, "neither a type nor a union")
        require("enum" not in schema or word == "STRING", pointer(place, "enum"), "only allowed for STRING type")
        require(word != "ARRAY" or "items" in schema, pointer(place, "items"), "missing field")
        names = schema.get("properties", {})
        strange = [name for name in schema.get("required", []) if name not in names]
        require(not strange, pointer(place, "required"), f"property is not defined: {strange}")
