// The conformance plugin: the same tools in every language.
#include "tools.h"

static const portcullis_tool TOOLS[] = {
    {
        .name = "echo",
        .description = "Gives back a value as it came.",
        .schema = PORTCULLIS_JSON({
            "type": "object",
            "properties": {
                "value": {"description": "Any JSON."}
            },
            "required": ["value"],
            "additionalProperties": false
        }),
        .hints = PORTCULLIS_READ_ONLY | PORTCULLIS_IDEMPOTENT,
        .run = echo,
    },
    {
        .name = "reverse",
        .description = "Reverses the characters of a text.",
        .schema = PORTCULLIS_JSON({
            "type": "object",
            "properties": {
                "text": {"type": "string", "description": "The text to reverse."}
            },
            "required": ["text"],
            "additionalProperties": false
        }),
        .hints = PORTCULLIS_READ_ONLY | PORTCULLIS_IDEMPOTENT,
        .run = reverse,
    },
    {
        .name = "repeat",
        .description = "Repeats a text, for an answer of any size.",
        .schema = PORTCULLIS_JSON({
            "type": "object",
            "properties": {
                "text": {"type": "string", "description": "The text to repeat."},
                "times": {"type": "integer", "minimum": 0, "maximum": 10000000, "description": "How often."}
            },
            "required": ["text", "times"],
            "additionalProperties": false
        }),
        .hints = PORTCULLIS_READ_ONLY | PORTCULLIS_IDEMPOTENT,
        .run = repeat,
    },
    {
        .name = "measure",
        .description = "Counts the bytes and the characters of a text.",
        .schema = PORTCULLIS_JSON({
            "type": "object",
            "properties": {
                "text": {"type": "string", "description": "The text to measure."}
            },
            "required": ["text"],
            "additionalProperties": false
        }),
        .hints = PORTCULLIS_READ_ONLY | PORTCULLIS_IDEMPOTENT,
        .run = measure,
    },
    {
        .name = "add",
        .description = "Adds two whole numbers.",
        .schema = PORTCULLIS_JSON({
            "type": "object",
            "properties": {
                "a": {"type": "integer", "description": "The first number."},
                "b": {"type": "integer", "description": "The second number."},
                "note": {"type": "string", "description": "Words that come back beside the sum."},
                "kind": {"type": "string", "enum": ["exact", "rounded"], "default": "exact", "description": "How the sum is meant."}
            },
            "required": ["a", "b"],
            "additionalProperties": false
        }),
        .output_schema = PORTCULLIS_JSON({
            "type": "object",
            "properties": {
                "sum": {"type": "integer", "description": "Both numbers together."},
                "kind": {"type": "string", "description": "How it is meant."},
                "note": {"type": "string", "description": "The words that came with the numbers."}
            },
            "required": ["sum", "kind"],
            "additionalProperties": false
        }),
        .hints = PORTCULLIS_READ_ONLY | PORTCULLIS_IDEMPOTENT,
        .run = add,
    },
    {
        .name = "fail",
        .description = "Ends with a failure of the kind that is asked for.",
        .schema = PORTCULLIS_JSON({
            "type": "object",
            "properties": {
                "kind": {"type": "string", "enum": ["invalid-arguments", "denied", "unavailable", "cancelled", "failed"], "description": "The kind of failure."},
                "message": {"type": "string", "description": "What it says."}
            },
            "required": ["kind", "message"],
            "additionalProperties": false
        }),
        .hints = PORTCULLIS_READ_ONLY | PORTCULLIS_IDEMPOTENT,
        .run = fail,
    },
    {
        .name = "trap",
        .description = "Breaks off in the middle.",
        .hints = PORTCULLIS_READ_ONLY | PORTCULLIS_IDEMPOTENT,
        .run = trap,
    },
    {
        .name = "progress",
        .description = "Reports its progress, step by step.",
        .schema = PORTCULLIS_JSON({
            "type": "object",
            "properties": {
                "steps": {"type": "integer", "minimum": 1, "maximum": 100, "description": "How many steps."}
            },
            "required": ["steps"],
            "additionalProperties": false
        }),
        .hints = PORTCULLIS_READ_ONLY | PORTCULLIS_IDEMPOTENT,
        .run = progress,
    },
    {
        .name = "wait",
        .description = "Waits until the call is cancelled.",
        .hints = PORTCULLIS_READ_ONLY | PORTCULLIS_IDEMPOTENT,
        .run = wait,
    },
    {
        .name = "context",
        .description = "Says who asked for the call.",
        .hints = PORTCULLIS_READ_ONLY | PORTCULLIS_IDEMPOTENT,
        .run = context,
    },
    {
        .name = "ask",
        .description = "Asks whether something may be done.",
        .schema = PORTCULLIS_JSON({
            "type": "object",
            "properties": {
                "permission": {"type": "string", "enum": ["read", "write", "execute", "network"], "description": "The kind of right."},
                "resource": {"type": "string", "description": "What it is about."},
                "reason": {"type": "string", "description": "Why."}
            },
            "required": ["permission", "resource", "reason"],
            "additionalProperties": false
        }),
        .required = PORTCULLIS_WRITE,
        .run = ask,
    },
    {
        .name = "read",
        .description = "Reads a text file.",
        .schema = PORTCULLIS_JSON({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "The path below the workspace."}
            },
            "required": ["path"],
            "additionalProperties": false
        }),
        .required = PORTCULLIS_READ,
        .hints = PORTCULLIS_READ_ONLY | PORTCULLIS_IDEMPOTENT,
        .run = read_file,
    },
    {
        .name = "write",
        .description = "Writes a text file, and the directories above it.",
        .schema = PORTCULLIS_JSON({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "The path below the workspace."},
                "text": {"type": "string", "description": "The whole content."}
            },
            "required": ["path", "text"],
            "additionalProperties": false
        }),
        .required = PORTCULLIS_READ | PORTCULLIS_WRITE,
        .hints = PORTCULLIS_DESTRUCTIVE | PORTCULLIS_IDEMPOTENT,
        .run = write_file,
    },
    {
        .name = "list",
        .description = "Lists a directory.",
        .schema = PORTCULLIS_JSON({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "The path below the workspace."}
            },
            "required": ["path"],
            "additionalProperties": false
        }),
        .required = PORTCULLIS_READ,
        .hints = PORTCULLIS_READ_ONLY | PORTCULLIS_IDEMPOTENT,
        .run = list_directory,
    },
    {
        .name = "remove",
        .description = "Removes a file.",
        .schema = PORTCULLIS_JSON({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "The path below the workspace."}
            },
            "required": ["path"],
            "additionalProperties": false
        }),
        .required = PORTCULLIS_READ | PORTCULLIS_WRITE,
        .hints = PORTCULLIS_DESTRUCTIVE,
        .run = remove_file,
    },
    {
        .name = "fetch",
        .description = "Fetches what is behind a URL.",
        .schema = PORTCULLIS_JSON({
            "type": "object",
            "properties": {
                "url": {"type": "string", "description": "The URL to fetch."},
                "method": {"type": "string", "default": "GET", "description": "The method of the request."},
                "body": {"type": "string", "description": "What to send."}
            },
            "required": ["url"],
            "additionalProperties": false
        }),
        .required = PORTCULLIS_NETWORK,
        .hints = PORTCULLIS_OPEN_WORLD,
        .run = fetch,
    },
    {
        .name = "remember",
        .description = "Keeps a value for later calls.",
        .schema = PORTCULLIS_JSON({
            "type": "object",
            "properties": {
                "key": {"type": "string", "description": "The name of the value."},
                "value": {"description": "Any JSON."}
            },
            "required": ["key", "value"],
            "additionalProperties": false
        }),
        .required = PORTCULLIS_WRITE,
        .hints = PORTCULLIS_IDEMPOTENT,
        .run = remember,
    },
    {
        .name = "recall",
        .description = "Gives back a value that was kept.",
        .schema = PORTCULLIS_JSON({
            "type": "object",
            "properties": {
                "key": {"type": "string", "description": "The name of the value."}
            },
            "required": ["key"],
            "additionalProperties": false
        }),
        .required = PORTCULLIS_READ,
        .hints = PORTCULLIS_READ_ONLY | PORTCULLIS_IDEMPOTENT,
        .run = recall,
    },
    {
        .name = "setting",
        .description = "Gives back a setting of the policy.",
        .schema = PORTCULLIS_JSON({
            "type": "object",
            "properties": {
                "key": {"type": "string", "description": "The name of the setting."}
            },
            "required": ["key"],
            "additionalProperties": false
        }),
        .hints = PORTCULLIS_READ_ONLY | PORTCULLIS_IDEMPOTENT,
        .run = setting,
    },
    {
        .name = "print",
        .description = "Writes a text to both outputs and to the log.",
        .schema = PORTCULLIS_JSON({
            "type": "object",
            "properties": {
                "text": {"type": "string", "description": "The text to write."}
            },
            "required": ["text"],
            "additionalProperties": false
        }),
        .hints = PORTCULLIS_READ_ONLY | PORTCULLIS_IDEMPOTENT,
        .run = print,
    },
    {
        .name = "surroundings",
        .description = "Says what is around the plugin: clocks, randomness, environment.",
        .hints = PORTCULLIS_READ_ONLY,
        .run = surroundings,
    },
    {
        .name = "picture",
        .description = "Shows a picture of one pixel, and a file beside it.",
        .hints = PORTCULLIS_READ_ONLY | PORTCULLIS_IDEMPOTENT,
        .run = picture,
    },
    {
        .name = "write-out",
        .description = "Writes its answer in pieces while it works.",
        .schema = PORTCULLIS_JSON({
            "type": "object",
            "properties": {
                "pieces": {"type": "integer", "minimum": 1, "maximum": 1000, "description": "How many pieces."}
            },
            "required": ["pieces"],
            "additionalProperties": false
        }),
        .hints = PORTCULLIS_READ_ONLY | PORTCULLIS_IDEMPOTENT,
        .run = write_out,
    },
    {
        .name = "spin",
        .description = "Never comes to an end.",
        .hints = PORTCULLIS_READ_ONLY | PORTCULLIS_IDEMPOTENT,
        .run = spin,
    },
    {
        .name = "hog",
        .description = "Takes memory until there is none.",
        .hints = PORTCULLIS_READ_ONLY | PORTCULLIS_IDEMPOTENT,
        .run = hog,
    },
    {
        .name = "recurse",
        .description = "Calls itself until the stack ends.",
        .hints = PORTCULLIS_READ_ONLY | PORTCULLIS_IDEMPOTENT,
        .run = recurse,
    },
    {
        .name = "run",
        .description = "Runs a program to its end, and answers with what it wrote.",
        .schema = PORTCULLIS_JSON({
            "type": "object",
            "properties": {
                "key": {"type": "string", "description": "The key of the program."},
                "arguments": {"type": "array", "items": {"type": "string"}, "description": "Its arguments."},
                "input": {"type": "string", "description": "What it reads from stdin."},
                "directory": {"type": "string", "description": "The directory to start in."},
                "merge": {"type": "boolean", "default": false, "description": "Whether stderr goes to the stream of stdout."},
                "needs_host": {"type": "string", "description": "A host and a port that the program lacks."},
                "needs_read": {"type": "string", "description": "A directory of the machine that the program has to read."},
                "needs_write": {"type": "string", "description": "A directory of the machine that the program has to write."}
            },
            "required": ["key", "arguments"],
            "additionalProperties": false
        }),
        .required = PORTCULLIS_READ | PORTCULLIS_WRITE | PORTCULLIS_EXECUTE,
        .run = run_program,
    },
    {
        .name = "stream",
        .description = "Passes on what a program writes, and ends the program once it has written a text.",
        .schema = PORTCULLIS_JSON({
            "type": "object",
            "properties": {
                "key": {"type": "string", "description": "The key of the program."},
                "arguments": {"type": "array", "items": {"type": "string"}, "description": "Its arguments."},
                "input": {"type": "string", "description": "What it reads from stdin."},
                "until": {"type": "string", "description": "The text that ends the program."}
            },
            "required": ["key", "arguments"],
            "additionalProperties": false
        }),
        .required = PORTCULLIS_READ | PORTCULLIS_WRITE | PORTCULLIS_EXECUTE,
        .run = stream,
    },
    {
        .name = "converse",
        .description = "Writes lines to a program, and reads its answer to each.",
        .schema = PORTCULLIS_JSON({
            "type": "object",
            "properties": {
                "key": {"type": "string", "description": "The key of the program."},
                "arguments": {"type": "array", "items": {"type": "string"}, "description": "Its arguments."},
                "lines": {"type": "array", "items": {"type": "string"}, "description": "What to write."}
            },
            "required": ["key", "arguments", "lines"],
            "additionalProperties": false
        }),
        .required = PORTCULLIS_READ | PORTCULLIS_WRITE | PORTCULLIS_EXECUTE,
        .run = converse,
    },
    {
        .name = "delegate",
        .description = "Calls another tool, and answers as that tool does.",
        .schema = PORTCULLIS_JSON({
            "type": "object",
            "properties": {
                "key": {"type": "string", "description": "The key of the tools."},
                "tool": {"type": "string", "description": "The full name of the tool."},
                "arguments": {"type": "object", "description": "Its arguments."}
            },
            "required": ["key", "tool", "arguments"],
            "additionalProperties": false
        }),
        .run = delegate,
    },
    {
        .name = "delegate-all",
        .description = "Calls several tools with a text each at the same time, and answers with the text or the failure of each.",
        .schema = PORTCULLIS_JSON({
            "type": "object",
            "properties": {
                "key": {"type": "string", "description": "The key of the tools."},
                "tools": {"type": "array", "items": {"type": "string"}, "description": "The full names of the tools."},
                "texts": {"type": "array", "items": {"type": "string"}, "description": "The argument of each."}
            },
            "required": ["key", "tools", "texts"],
            "additionalProperties": false
        }),
        .run = delegate_all,
    },
    {
        .name = "lookup",
        .description = "Lists and searches other tools, and says how one of them is defined.",
        .schema = PORTCULLIS_JSON({
            "type": "object",
            "properties": {
                "key": {"type": "string", "description": "The key of the tools."},
                "query": {"type": "string", "description": "What the search is for."},
                "limit": {"type": "integer", "minimum": 0, "maximum": 100, "description": "How many tools the search may find."},
                "tool": {"type": "string", "description": "The full name of the tool to define."}
            },
            "required": ["key", "query", "limit", "tool"],
            "additionalProperties": false
        }),
        .hints = PORTCULLIS_READ_ONLY | PORTCULLIS_IDEMPOTENT,
        .run = lookup,
    },
    {
        .name = "plan",
        .description = "Says what would happen to calls of other tools with a text each, and asks for them together.",
        .schema = PORTCULLIS_JSON({
            "type": "object",
            "properties": {
                "key": {"type": "string", "description": "The key of the tools."},
                "tools": {"type": "array", "items": {"type": "string"}, "description": "The full names of the tools."},
                "texts": {"type": "array", "items": {"type": "string"}, "description": "The argument of each."}
            },
            "required": ["key", "tools", "texts"],
            "additionalProperties": false
        }),
        .hints = PORTCULLIS_READ_ONLY,
        .run = plan,
    },
    {
        .name = "keep",
        .description = "Keeps a text as a file beside its answer.",
        .schema = PORTCULLIS_JSON({
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "The name of the file."},
                "text": {"type": "string", "description": "Its content."}
            },
            "required": ["name", "text"],
            "additionalProperties": false
        }),
        .hints = PORTCULLIS_READ_ONLY | PORTCULLIS_IDEMPOTENT,
        .run = keep_text,
    },
};

static const portcullis_dependency DEPENDENCIES[] = {
    {"workspace", PORTCULLIS_DIRECTORY, true, "Files that the tools read and write."},
    {"web", PORTCULLIS_HTTP, true, "What the tools fetch."},
    {"notes", PORTCULLIS_STORE, true, "What the tools remember."},
    {"sh", PORTCULLIS_PROCESS, true, "What the tools run."},
    {"others", PORTCULLIS_TOOLS, true, "What the tools call."},
};

const portcullis_plugin portcullis_this_plugin = {
    .name = "conformance",
    .version = "1.0.0",
    .description = "The same tools in every language.",
    .tools = TOOLS,
    .tool_count = PORTCULLIS_COUNT(TOOLS),
    .dependencies = DEPENDENCIES,
    .dependency_count = PORTCULLIS_COUNT(DEPENDENCIES),
};
