// What stands at the edges of the SDK: text that is not UTF-8, numbers beyond 64 bits, and handles without end.
#include <portcullis.h>

// "café" in Latin-1, which is no UTF-8.
#define LATIN "caf\xE9"

// As many requests as a policy lets a call send where it says nothing: more than the case of them has handles.
enum { REQUESTS = 16 };

static portcullis_answer latin_text(yyjson_val *) {
    return portcullis_text("\xFF\xFE\x61");
}

static portcullis_answer latin_json(yyjson_val *) {
    yyjson_mut_doc *answer = portcullis_new_object();
    yyjson_mut_obj_add_str(answer, yyjson_mut_doc_get_root(answer), "text", LATIN);
    return portcullis_json(answer);
}

static portcullis_answer latin_part(yyjson_val *) {
    static const portcullis_part PART = {PORTCULLIS_PART_TEXT, NULL, LATIN, sizeof LATIN - 1};
    return portcullis_parts(&PART, 1);
}

static portcullis_answer latin_metadata(yyjson_val *) {
    portcullis_answer answer = portcullis_text("done");
    answer.metadata = "{\"text\":\"" LATIN "\"}";
    return answer;
}

static portcullis_answer latin_said(yyjson_val *) {
    portcullis_log(PORTCULLIS_INFO, "%s is logged", LATIN);
    portcullis_progress(LATIN, 0.5F, NULL);
    portcullis_answer answer = portcullis_text("done");
    answer.title = LATIN;
    return answer;
}

static portcullis_answer latin_failure(yyjson_val *) {
    // A character that ends too early, one that is too long, a surrogate, and one beyond all.
    static const char WRONG[] = "|\xF0\x9F\xA6|\xC0\xAF|\xED\xA0\x80|\xF4\x90\x80\x80|";
    return portcullis_fail(PORTCULLIS_FAILED, LATIN "%s\xF0\x9F\xA6\x80", WRONG);
}

static portcullis_answer latin_key(yyjson_val *) {
    portcullis_store notes;
    portcullis_failure failure;
    if (!portcullis_open_store("notes", &notes, &failure) ||
        !portcullis_store_set(notes, LATIN, "1", 1, &failure)) {
        return portcullis_fail_with(failure);
    }
    return portcullis_text("kept");
}

static portcullis_answer latin_name(yyjson_val *) {
    static const portcullis_part PART = {PORTCULLIS_PART_FILE, "text/csv", "a", 1, LATIN};
    return portcullis_parts(&PART, 1);
}

static portcullis_answer named(yyjson_val *) {
    static const portcullis_part PARTS[] = {
        {PORTCULLIS_PART_IMAGE, "image/png", "a", 1, "plot.png"},
        {PORTCULLIS_PART_FILE, "text/csv", "a", 1, "report.csv"},
    };
    return portcullis_parts(PARTS, PORTCULLIS_COUNT(PARTS));
}

static portcullis_answer later(yyjson_val *) {
    portcullis_answer answer = portcullis_fail(PORTCULLIS_UNAVAILABLE, "the queue is full");
    answer.failure.retry_after_seconds = 90;
    return answer;
}

static portcullis_answer keeps(yyjson_val *) {
    portcullis_failure failure;
    if (portcullis_keep_file(LATIN, "text/plain", "a", 1, &failure)) return portcullis_text("it was kept");
    if (!portcullis_keep_file("notes.txt", "text/plain", "one\ntwo", 7, &failure) ||
        !portcullis_keep_file(NULL, "text/csv", "a", 1, &failure)) {
        return portcullis_fail_with(failure);
    }
    return portcullis_text("done");
}

static portcullis_answer keeps_too_much(yyjson_val *) {
    portcullis_failure failure;
    do failure.message = NULL;
    while (portcullis_keep_file("notes.txt", "text/plain", "a", 1, &failure));
    return portcullis_fail_with(failure);
}

static portcullis_answer to_utf8(yyjson_val *) {
    portcullis_bytes none = portcullis_to_utf8((portcullis_view){NULL, 0});
    portcullis_bytes whole = portcullis_to_utf8(portcullis_view_of("grüß")), cut = portcullis_to_utf8(portcullis_view_of(LATIN));
    return portcullis_textf("%zu|%s|%s|%s", none.length, none.data, whole.data, cut.data);
}

static portcullis_answer whole(yyjson_val *arguments) {
    int64_t number;
    if (!portcullis_integer(yyjson_obj_get(arguments, "value"), &number)) {
        return portcullis_fail(PORTCULLIS_INVALID_ARGUMENTS, "this is no whole number of 64 bits");
    }
    return portcullis_textf("%lld", (long long)number);
}

static portcullis_answer plain(yyjson_val *arguments) {
    const char *text = portcullis_string(yyjson_obj_get(arguments, "value"));
    return text ? portcullis_text(text) : portcullis_fail(PORTCULLIS_INVALID_ARGUMENTS, "this is no text of C");
}

static portcullis_answer encode(yyjson_val *arguments) {
    yyjson_val *text = yyjson_obj_get(arguments, "value");
    return portcullis_text(portcullis_encode_of((portcullis_view){yyjson_get_str(text), yyjson_get_len(text)}));
}

static portcullis_answer fetch_often(yyjson_val *arguments) {
    static const portcullis_header GOOD = {"x-test", "1"}, BAD = {"no header", "1"};
    portcullis_request request = {.url = portcullis_string(yyjson_obj_get(arguments, "value")), .header_count = 1};
    portcullis_response response;
    portcullis_failure failure;
    for (int i = 0; i < REQUESTS; i++) {
        request.headers = &BAD;
        if (portcullis_fetch("web", &request, &response, &failure)) return portcullis_text("a bad header was sent");
        request.headers = &GOOD;
        if (!portcullis_fetch("web", &request, &response, &failure)) return portcullis_fail_with(failure);
    }
    return portcullis_text("done");
}

// The examples of the SDK's README.

static portcullis_answer history(yyjson_val *) {
    static const portcullis_view ARGUMENTS[] = {PORTCULLIS_VIEW("log"), PORTCULLIS_VIEW("-5"), PORTCULLIS_VIEW("--oneline")};
    const portcullis_launch launch = {
        .arguments = ARGUMENTS,
        .argument_count = PORTCULLIS_COUNT(ARGUMENTS),
        .directory = PORTCULLIS_VIEW("/workspace"),
    };
    portcullis_program git;
    portcullis_program_output output;
    portcullis_failure failure;
    if (!portcullis_open_program("git", &git, &failure) ||
        !portcullis_run_program(git, &launch, 64 * 1024, &output, &failure)) {
        return portcullis_fail_with(failure);
    }
    if (!portcullis_is_success(&output.report)) {
        return portcullis_fail(PORTCULLIS_FAILED, "git: %s", portcullis_exit_text(&output.report));
    }
    return portcullis_text(portcullis_to_utf8((portcullis_view){output.out.data, output.out.length}).data);
}

static portcullis_answer lines(yyjson_val *) {
    portcullis_toolset others;
    portcullis_answer readme;
    portcullis_failure failure;
    if (!portcullis_open_tools("others", &others, &failure) ||
        !portcullis_call_tool(others, "files.read", "{\"path\":\"README.md\"}", &readme, &failure)) {
        return portcullis_fail_with(failure);
    }
    portcullis_bytes text = portcullis_answer_text(&readme);
    size_t count = 0;
    for (size_t i = 0; i < text.length; i++) count += text.data[i] == '\n';
    return portcullis_textf("%zu", count);
}

#define ANY PORTCULLIS_JSON({ \
    "type": "object", \
    "properties": {"value": {"description": "What is tried."}}, \
    "required": ["value"], \
    "additionalProperties": false \
})

static const portcullis_tool TOOLS[] = {
    {.name = "latin-text", .description = "Answers with text that is no UTF-8.", .run = latin_text},
    {.name = "latin-json", .description = "Answers with JSON that is no UTF-8.", .run = latin_json},
    {.name = "latin-part", .description = "Answers with a part that is no UTF-8.", .run = latin_part},
    {.name = "latin-metadata", .description = "Has metadata that are no UTF-8.", .run = latin_metadata},
    {.name = "latin-said", .description = "Says what is no UTF-8.", .run = latin_said},
    {.name = "latin-failure", .description = "Fails with words that are no UTF-8.", .run = latin_failure},
    {.name = "latin-key", .description = "Keeps a value by a key that is no UTF-8.", .required = PORTCULLIS_WRITE,
     .run = latin_key},
    {.name = "latin-name", .description = "Names a file with no UTF-8.", .run = latin_name},
    {.name = "named", .description = "Names an image and a file.", .run = named},
    {.name = "later", .description = "Says when to try again.", .run = later},
    {.name = "keeps", .description = "Keeps files beside its answer.", .run = keeps},
    {.name = "keeps-too-much", .description = "Keeps more files than a call may.", .run = keeps_too_much},
    {.name = "to-utf8", .description = "Makes text of any bytes.", .run = to_utf8},
    {.name = "history", .description = "Shows the last commits.", .required = PORTCULLIS_EXECUTE, .run = history},
    {.name = "lines", .description = "Counts the lines of the readme.", .run = lines},
    {.name = "whole", .description = "Reads a whole number.", .schema = ANY, .run = whole},
    {.name = "plain", .description = "Reads a text as C has it.", .schema = ANY, .run = plain},
    {.name = "encode", .description = "Encodes a text for a URL.", .schema = ANY, .run = encode},
    {.name = "fetch-often", .description = "Makes more requests than a call may have handles.", .schema = ANY,
     .required = PORTCULLIS_NETWORK, .run = fetch_often},
};

static const portcullis_dependency DEPENDENCIES[] = {
    {"notes", PORTCULLIS_STORE, true, "where a key is tried"},
    {"web", PORTCULLIS_HTTP, true, "what is fetched"},
    {"git", PORTCULLIS_PROCESS, true, "reads the commits"},
    {"others", PORTCULLIS_TOOLS, true, "reads the file"},
};

const portcullis_plugin portcullis_this_plugin = {
    .name = "edges",
    .version = "0.1.0",
    .description = "Stands at the edges of the SDK.",
    .tools = TOOLS,
    .tool_count = PORTCULLIS_COUNT(TOOLS),
    .dependencies = DEPENDENCIES,
    .dependency_count = PORTCULLIS_COUNT(DEPENDENCIES),
};
