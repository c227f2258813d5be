"""What the checks of tools must find: for each format a tool that passes, and what somebody could break in it. What it
is broken into may be several tools."""

from provider_changes import drop, put

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "Where."},
        "days": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    },
    "required": ["city", "days"],
    "additionalProperties": False,
}

FLAT = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "Where.", "enum": ["Ulm", "Bonn"]},
        "days": {"type": ["integer", "null"]},
        "tags": {"type": "array", "items": {"type": "string", "minLength": 1}},
    },
    "required": ["city"],
}

OPENAPI = {
    "type": "OBJECT",
    "properties": {
        "city": {"type": "STRING", "enum": ["Ulm", "Bonn"]},
        "days": {"type": "INTEGER", "nullable": True, "minimum": 1},
        "tags": {"type": "ARRAY", "items": {"type": "STRING"}},
    },
    "required": ["city"],
}

NAME = "weather__forecast"


def nested(schema, **more):
    function = {"name": NAME, "description": "The weather.", "parameters": schema} | more
    return {"type": "function", "function": function}


def flat(schema, **more):
    return {"type": "function", "name": NAME, "description": "The weather.", "parameters": schema} | more


def anthropic(**more):
    return {"name": NAME, "description": "The weather.", "input_schema": SCHEMA} | more


def gemini(**more):
    return {"functionDeclarations": [{"name": NAME, "description": "The weather.", **more}]}


def lift(thing):
    """The nested shape, made flat."""
    return {"type": "function", **thing["function"]}


def sink(thing):
    """The flat shape, made nested."""
    kind = thing.pop("type")
    return {"type": kind, "function": thing}


DOTTED = "weather.forecast"

def closed(count, name=""):
    """An object with so many properties."""
    names = [f"{name}{number}" for number in range(count)]
    properties = {name: {"type": "null"} for name in names}
    return {"type": "object", "properties": properties, "required": names, "additionalProperties": False}


def optional(count, schema):
    """So many properties beside those that are required, all alike."""
    return SCHEMA["properties"] | {str(number): schema for number in range(count)}


def deep(levels):
    """Objects inside of one another."""
    within = {"type": "string"}
    for _ in range(levels):
        within = closed(1) | {"properties": {"0": within}}
    return within


def openai_faults(at):
    """What OpenAI refuses with and without the strict mode."""
    return [
        (put(f"{at}.properties.days", {"type": "array"}), "missing items"),
        (drop(f"{at}.properties"), "missing properties"),
        (put(f"{at}.type", "array"), "no object"),
        (put(f"{at}.anyOf", [{"type": "object"}]), "top level"),
        (put(f"{at}.not", {"required": ["town"]}), "top level"),
    ]


def openai_strict_faults(at):
    return [
        (drop(f"{at}.additionalProperties"), "open object"),
        (put(f"{at}.required", ["city"]), "not required"),
        (put(f"{at}.properties.city.minLength", 1), "does not take"),
        (put(f"{at}.properties.city.default", "Ulm"), "does not take"),
        (put(f"{at}.properties.city.format", "uri"), "not a format"),
        (put(f"{at}.properties.city", {"const": "Ulm"}), "does not take"),
        (put(f"{at}.properties.city", {"enum": ["Ulm"]}), "'type' key"),
        (put(f"{at}.properties.city", {}), "'type' key"),
        (put(f"{at}.properties.city", True), "true or false"),
        (put(f"{at}.properties.city", {"oneOf": [{"type": "string"}]}), "does not take"),
        (put(f"{at}.properties.city", {"$ref": "#", "description": "Where."}), "beside $ref"),
        (put(f"{at}.properties.days", {"type": "object", "properties": {}, "required": []}), "open object"),
        (put(f"{at}.properties.city.allOf", [{"type": "string"}]), "does not take"),
        (put(f"{at}.minProperties", 1), "does not take"),
        (put(f"{at}.required", ["city", "days", "town"]), "entries became"),
        (put(f"{at}.properties.city", closed(5_000)), "too many properties"),
        (put(f"{at}.properties.city", closed(4_000, "n" * 40)), "too many characters"),
        (put(f"{at}.properties.city.enum", [str(number) for number in range(1_001)]), "too many values"),
        (put(f"{at}.properties.city", deep(10)), "too deep"),
    ]


# For each format a valid tool, and the faults to insert.
TOOLS = {
    "openai-chat": (
        nested(SCHEMA, strict=False),
        [
            (lift, "Field required"),
            (put("type", "tool"), "Input should be 'function'"),
            (put("function.name", DOTTED), "no name"),
            (put("function.name", "n" * 65), "no name"),
            (put("function.description", "d" * 1_025), "too long"),
            (drop("function.name"), "Field required"),
            (put("function.strict", True), "not what the format says"),
            (put("function.strict", "no"), "became"),
            (put("function.title", "Weather"), "drops it"),
            (put("strict", False), "drops it"),
            *openai_faults("function.parameters"),
        ],
    ),
    "openai-chat-strict": (
        nested(SCHEMA, strict=True),
        [
            (lift, "Field required"),
            (drop("function.strict"), "not said"),
            *openai_faults("function.parameters"),
            *openai_strict_faults("function.parameters"),
        ],
    ),
    "openai-responses": (
        flat(SCHEMA, strict=False),
        [
            (sink, "Field required"),
            (drop("strict"), "Field required"),
            (drop("parameters"), "Field required"),
            (put("strict", None), "not said"),
            (put("strict", True), "not what the format says"),
            (put("name", DOTTED), "no name"),
            *openai_faults("parameters"),
        ],
    ),
    "openai-responses-strict": (
        flat(SCHEMA, strict=True),
        [
            (sink, "Field required"),
            (drop("strict"), "Field required"),
            *openai_faults("parameters"),
            *openai_strict_faults("parameters"),
        ],
    ),
    "anthropic": (
        anthropic(),
        [
            (lambda tool: flat(tool["input_schema"]), "Field required"),
            (drop("input_schema"), "Field required"),
            (drop("input_schema.type"), "Field required"),
            (put("input_schema.type", "array"), "Input should be 'object'"),
            (put("name", DOTTED), "no name"),
            (put("name", "n" * 129), "no name"),
            (put("inputSchema", {}), "drops it"),
            (put("strict", True), "not what the format says"),
            (put("input_schema.properties.city.type", "text"), "not valid under any"),
            (put("input_schema.oneOf", [{"required": ["city"]}]), "top level"),
            (put("input_schema.properties.the city", {"type": "string"}), "no name"),
        ],
    ),
    "anthropic-strict": (
        anthropic(strict=True),
        [
            (put("input_schema.additionalProperties", True), "open object"),
            (put("input_schema.properties.city.minLength", 1), "does not take"),
            (put("input_schema.properties.days", {"type": "integer", "minimum": 1}), "does not take"),
            (put("input_schema.properties.days", {"type": "array", "items": {}, "minItems": 2}), "more than"),
            (put("input_schema.properties.city.format", "regex"), "not a format"),
            (put("input_schema.properties.city", True), "true or false"),
            (put("input_schema.properties.city", {}), "must have a 'type'"),
            (put("input_schema.properties.city", {"$ref": "#"}), "recursion"),
            (put("input_schema.properties.city", {"$ref": "#/properties/days", "title": "City"}), "beside $ref"),
            (put("input_schema.properties", optional(25, {"type": "null"})), "too many optional"),
            (put("input_schema.properties", optional(17, {"anyOf": [{"type": "null"}]})), "with unions"),
            (lambda tool: [tool] * 21, "too many strict tools"),
            (put("input_schema.properties.days", {"type": "string", "anyOf": [{"type": "string"}]}), "drops it"),
        ],
    ),
    "gemini": (
        gemini(parametersJsonSchema=SCHEMA),
        [
            (lambda tool: tool["functionDeclarations"][0], "Extra inputs"),
            (lambda tool: nested(SCHEMA), "Extra inputs"),
            (put("functionDeclarations.0.strict", True), "Extra inputs"),
            (put("functionDeclarations.0.name", "0day"), "no name"),
            (put("functionDeclarations.0.parameters", OPENAPI), "both forms"),
            (put("functionDeclarations.0.parametersJsonSchema.type", "array"), "no object"),
            (put("functionDeclarations.0.parametersJsonSchema.properties.city.const", "Ulm"), "does not take"),
            (put("functionDeclarations.0.parametersJsonSchema.properties.city.enum", [True]), "neither texts"),
            (put("functionDeclarations.0.parametersJsonSchema.properties.city", {"$ref": "#"}), "recursion"),
            (
                put(
                    "functionDeclarations.0.parametersJsonSchema.properties.city",
                    {"$ref": "#/properties/days", "title": "City"},
                ),
                "beside $ref",
            ),
        ],
    ),
    "gemini-openapi": (
        gemini(parameters=OPENAPI),
        [
            (put("functionDeclarations.0.parametersJsonSchema", SCHEMA), "not the form"),
            (put("functionDeclarations.0.name", "0day"), "no name"),
            (put("functionDeclarations.0.parameters.properties", {}), "non-empty"),
            (put("functionDeclarations.0.parameters.properties.city.const", "Ulm"), "Extra inputs"),
            (put("functionDeclarations.0.parameters.properties.city", {"$ref": "#"}), "Extra inputs"),
            (put("functionDeclarations.0.parameters.properties.city.type", ["STRING", "NULL"]), "has no attribute"),
            (put("functionDeclarations.0.parameters.properties.city.type", "text"), "text is not a valid Type"),
            (put("functionDeclarations.0.parameters.properties.city", True), "valid dictionary"),
            (drop("functionDeclarations.0.parameters.properties.city.type"), "neither a type"),
            (put("functionDeclarations.0.parameters.properties.days.enum", ["1"]), "STRING type"),
            (put("functionDeclarations.0.parameters.properties.days.enum", [1]), "valid string"),
            (drop("functionDeclarations.0.parameters.properties.tags.items"), "missing field"),
            (put("functionDeclarations.0.parameters.required", ["town"]), "not defined"),
            (put("functionDeclarations.0.parameters.properties.the-city", {"type": "STRING"}), "no name"),
            (put("functionDeclarations.0.parameters.properties.days.exclusiveMinimum", 0), "Extra inputs"),
        ],
    ),
    "ollama": (
        nested(FLAT),
        [
            (lift, "drops it"),
            (put("function.strict", False), "drops it"),
            (put("function.name", DOTTED), "no name"),
            (put("function.parameters.additionalProperties", False), "drops it"),
            (put("function.parameters.properties.city.minLength", 1), "drops it"),
            (put("function.parameters.properties.city", {"anyOf": [{"type": "string"}]}), "drops it"),
            (put("function.parameters.properties.city", {"$ref": "#/$defs/City"}), "drops it"),
            (put("function.parameters.properties.city.properties", {}), "drops it"),
            (put("function.parameters.properties.city", True), "valid dictionary"),
            (put("function.parameters.type", "array"), "Input should be 'object'"),
            (drop("function.parameters.type"), "adds it"),
            (put("function.parameters.properties.city.type", "text"), "not valid under any"),
        ],
    ),
    "mistral": (
        nested(SCHEMA),
        [
            (lift, "Field required"),
            (drop("function.parameters"), "Field required"),
            (put("function.name", DOTTED), "Function name was"),
            (put("function.name", "n" * 65), "Function name was"),
            (put("function.title", "Weather"), "drops it"),
            (put("function.parameters.type", "array"), "no object"),
            (put("function.parameters.properties.city.type", "text"), "Invalid tool schema"),
            (put("function.parameters.properties.days", {"items": 1}), "Invalid tool schema"),
        ],
    ),
    "langchain": (
        nested(SCHEMA)["function"],
        [
            (lambda tool: nested(SCHEMA), "Unsupported function"),
            (put("title", "Weather"), "drops it"),
            (put("strict", False), "LangChain would"),
            (put("parameters.type", "array"), "no object"),
            (put("parameters.properties.city", {"$ref": "#city"}), "ref paths"),
            (put("parameters", {"type": "object", "$ref": "#/$defs/All", "$defs": {"All": SCHEMA}}), "as a tool"),
            (put("parameters.properties.city", {"$ref": "#/$defs/City"}), "not found"),
        ],
    ),
}
