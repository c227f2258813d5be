#include <portcullis.h>

static portcullis_answer greet(yyjson_val *arguments) {
    const char *name = portcullis_string(yyjson_obj_get(arguments, "name"));
    if (!name) return portcullis_fail(PORTCULLIS_INVALID_ARGUMENTS, "a name has no NUL in it");
    return portcullis_textf("Hello, %s!", name);
}

static const portcullis_tool TOOLS[] = {
    {
        .name = "greet",
        .description = "Greets a person by name.",
        .schema = PORTCULLIS_JSON({
            "type": "object",
            "properties": {"name": {"type": "string", "description": "A person's name."}},
            "required": ["name"],
            "additionalProperties": false
        }),
        .hints = PORTCULLIS_READ_ONLY | PORTCULLIS_IDEMPOTENT,
        .run = greet,
    },
};

const portcullis_plugin portcullis_this_plugin = {
    .name = "{{name}}",
    .version = "0.1.0",
    .description = "Greets people.",
    .tools = TOOLS,
    .tool_count = PORTCULLIS_COUNT(TOOLS),
};
