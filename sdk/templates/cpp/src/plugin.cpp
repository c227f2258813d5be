#include <portcullis.hpp>

static portcullis::Result greet(portcullis::Value arguments) {
    return "Hello, " + arguments["name"].string() + "!";
}

static const portcullis::Tool TOOLS[] = {
    {
        .name = "greet",
        .description = "Greets a person by name.",
        .schema = R"({
            "type": "object",
            "properties": {"name": {"type": "string", "description": "A person's name."}},
            "required": ["name"],
            "additionalProperties": false
        })",
        .hints = PORTCULLIS_READ_ONLY | PORTCULLIS_IDEMPOTENT,
        .run = portcullis::run<greet>,
    },
};

const portcullis::Plugin portcullis_this_plugin = {
    .name = "{{name}}",
    .version = "0.1.0",
    .description = "Greets people.",
    .tools = TOOLS,
    .tool_count = std::size(TOOLS),
};
