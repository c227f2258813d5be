// Tools of other plugins, which the policy binds.
#include <stdlib.h>

#include "tools.h"

portcullis_answer delegate(yyjson_val *arguments) {
    portcullis_toolset others;
    portcullis_failure failure;
    if (!portcullis_open_tools(key_of(arguments), &others, &failure)) return portcullis_fail_with(failure);
    size_t length;
    char *document = yyjson_val_write(yyjson_obj_get(arguments, "arguments"), YYJSON_WRITE_NOFLAG, &length);
    portcullis_answer answer;
    bool answered = portcullis_call_tool_of(others, text_of(arguments, "tool"), (portcullis_view){document, length},
                                            &answer, &failure);
    free(document);
    portcullis_close_tools(others);
    return answered ? answer : portcullis_fail_with(failure);
}

// Returns one JSON object with a text.
static portcullis_view with_text(portcullis_view text) {
    yyjson_mut_doc *object = portcullis_new_object();
    yyjson_mut_obj_add_strn(object, yyjson_mut_doc_get_root(object), "text", text.data, text.length);
    size_t length;
    char *document = yyjson_mut_write(object, YYJSON_WRITE_NOFLAG, &length);
    yyjson_mut_doc_free(object);
    return (portcullis_view){document, length};
}

// Returns the calls of the tools with a text each.
static portcullis_tool_call *calls_of(yyjson_val *arguments, size_t *count) {
    size_t tool_count, text_count;
    portcullis_view *tools = texts_of(arguments, "tools", &tool_count);
    portcullis_view *texts = texts_of(arguments, "texts", &text_count);
    *count = tool_count < text_count ? tool_count : text_count;
    portcullis_tool_call *calls = calloc(*count + 1, sizeof *calls);
    for (size_t i = 0; i < *count; i++) calls[i] = (portcullis_tool_call){tools[i], with_text(texts[i])};
    free(tools);
    free(texts);
    return calls;
}

static void free_calls(portcullis_tool_call *calls, size_t count) {
    for (size_t i = 0; i < count; i++) free((char *)calls[i].arguments.data);
    free(calls);
}

// Returns the answers of calls as JSON, and frees them.
static portcullis_answer answers_of(portcullis_answer *answers, size_t count) {
    yyjson_mut_doc *document = portcullis_new_object();
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(document, yyjson_mut_doc_get_root(document), "answers");
    for (size_t i = 0; i < count; i++) {
        portcullis_bytes text = portcullis_answer_text(&answers[i]);
        const char *name = answers[i].kind == PORTCULLIS_ANSWER_FAILURE ? "failure" : "text";
        yyjson_mut_obj_add_strncpy(document, yyjson_mut_arr_add_obj(document, list), name, text.data, text.length);
        free(text.data);
    }
    portcullis_free_answers(answers, count);
    return portcullis_json(document);
}

portcullis_answer delegate_all(yyjson_val *arguments) {
    portcullis_toolset others;
    portcullis_failure failure;
    if (!portcullis_open_tools(key_of(arguments), &others, &failure)) return portcullis_fail_with(failure);
    size_t count;
    portcullis_tool_call *calls = calls_of(arguments, &count);
    portcullis_answer *answers;
    bool answered = portcullis_call_tools(others, calls, count, &answers, &failure);
    free_calls(calls, count);
    portcullis_close_tools(others);
    return answered ? answers_of(answers, count) : portcullis_fail_with(failure);
}

static void add_outlook(yyjson_mut_doc *document, yyjson_mut_val *list, const portcullis_outlook *outlook) {
    static const char *const KINDS[] = {"runs", "needs-approval"};
    if (outlook->kind != PORTCULLIS_FAILS) {
        yyjson_mut_arr_add_str(document, list, KINDS[outlook->kind]);
        return;
    }
    char *text = portcullis_format("fails: %s", outlook->failure.message);
    yyjson_mut_arr_add_strcpy(document, list, text);
    free(text);
}

portcullis_answer plan(yyjson_val *arguments) {
    portcullis_toolset others;
    portcullis_failure failure;
    if (!portcullis_open_tools(key_of(arguments), &others, &failure)) return portcullis_fail_with(failure);
    size_t count;
    portcullis_tool_call *calls = calls_of(arguments, &count);
    portcullis_outlook *outlooks;
    bool *approved;
    if (!portcullis_foresee_calls(others, calls, count, &outlooks, &failure) ||
        !portcullis_approve_calls(others, calls, count, &approved, &failure)) {
        return portcullis_fail_with(failure);
    }
    yyjson_mut_doc *answer = portcullis_new_object();
    yyjson_mut_val *root = yyjson_mut_doc_get_root(answer), *list = yyjson_mut_obj_add_arr(answer, root, "outlooks");
    for (size_t i = 0; i < count; i++) add_outlook(answer, list, &outlooks[i]);
    list = yyjson_mut_obj_add_arr(answer, root, "approved");
    for (size_t i = 0; i < count; i++) yyjson_mut_arr_add_bool(answer, list, approved[i]);
    portcullis_free_outlooks(outlooks, count);
    free(approved);
    free_calls(calls, count);
    portcullis_close_tools(others);
    return portcullis_json(answer);
}

static void add_text(yyjson_mut_doc *document, yyjson_mut_val *object, const char *name, portcullis_bytes text) {
    yyjson_mut_val *value =
        text.data ? yyjson_mut_strncpy(document, text.data, text.length) : yyjson_mut_null(document);
    yyjson_mut_obj_add_val(document, object, name, value);
}

static void add_summary(yyjson_mut_doc *document, yyjson_mut_val *object, const portcullis_tool_summary *tool) {
    add_text(document, object, "name", tool->name);
    add_text(document, object, "title", tool->title);
    add_text(document, object, "description", tool->description);
}

// Adds a list of tools, and frees it.
static void add_list(yyjson_mut_doc *document, const char *name, portcullis_tool_summary *tools, size_t count) {
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(document, yyjson_mut_doc_get_root(document), name);
    for (size_t i = 0; i < count; i++) add_summary(document, yyjson_mut_arr_add_obj(document, list), &tools[i]);
    portcullis_free_summaries(tools, count);
}

// Adds a document, or null where there is none.
static void add_json(yyjson_mut_doc *document, yyjson_mut_val *object, const char *name, portcullis_bytes text) {
    yyjson_doc *parsed = text.data ? yyjson_read(text.data, text.length, YYJSON_READ_NOFLAG) : NULL;
    yyjson_mut_val *value =
        parsed ? yyjson_val_mut_copy(document, yyjson_doc_get_root(parsed)) : yyjson_mut_null(document);
    yyjson_mut_obj_add_val(document, object, name, value);
    yyjson_doc_free(parsed);
}

// Adds the names of the bits that are set.
static void add_names(yyjson_mut_doc *document, yyjson_mut_val *object, const char *name, unsigned set,
                      const char *const *names, size_t count) {
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(document, object, name);
    for (size_t i = 0; i < count; i++) {
        if (set & 1U << i) yyjson_mut_arr_add_str(document, list, names[i]);
    }
}

static void add_definition(yyjson_mut_doc *document, portcullis_callable *tool) {
    static const char *const PERMISSIONS[] = {"read", "write", "execute", "network"};
    static const char *const HINTS[] = {"read-only", "destructive", "idempotent", "open-world", "sequential"};
    yyjson_mut_val *object = yyjson_mut_obj_add_obj(document, yyjson_mut_doc_get_root(document), "definition");
    add_summary(document, object, &tool->summary);
    add_json(document, object, "schema", tool->schema);
    add_json(document, object, "output_schema", tool->output_schema);
    add_names(document, object, "permissions", tool->permissions, PERMISSIONS, PORTCULLIS_COUNT(PERMISSIONS));
    add_names(document, object, "hints", tool->hints, HINTS, PORTCULLIS_COUNT(HINTS));
    portcullis_free_callable(tool);
}

portcullis_answer lookup(yyjson_val *arguments) {
    portcullis_toolset others;
    portcullis_failure failure;
    if (!portcullis_open_tools(key_of(arguments), &others, &failure)) return portcullis_fail_with(failure);
    yyjson_mut_doc *answer = portcullis_new_object();
    size_t count;
    portcullis_tool_summary *list = portcullis_list_tools(others, &count);
    add_list(answer, "list", list, count);
    uint32_t limit = (uint32_t)number_of(arguments, "limit");
    portcullis_tool_summary *found = portcullis_search_tools_of(others, text_of(arguments, "query"), limit, &count);
    add_list(answer, "found", found, count);
    portcullis_callable definition;
    if (portcullis_define_tool_of(others, text_of(arguments, "tool"), &definition)) {
        add_definition(answer, &definition);
    } else {
        yyjson_mut_obj_add_null(answer, yyjson_mut_doc_get_root(answer), "definition");
    }
    portcullis_close_tools(others);
    return portcullis_json(answer);
}
