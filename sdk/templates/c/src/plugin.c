#include <portcullis.h>

static portcullis_answer greet(yyjson_val *arguments) {
    return portcullis_textf("Hello, %s!", yyjson_get_str(yyjson_obj_get(arguments, "name")));
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
