// Tools of other plugins, which the policy binds.
#include <stdlib.h>
#include <string.h>

#include "allocation.h"
#include "portcullis/toolset.h"
#include "text.h"
#include "utf8.h"

static portcullis_tool_tools_borrow_toolset_t borrow(portcullis_toolset toolset) {
    return portcullis_tool_tools_borrow_toolset((portcullis_tool_tools_own_toolset_t){toolset.handle});
}

bool portcullis_open_tools(const char *key, portcullis_toolset *toolset, portcullis_failure *failure) {
    portcullis_view name = portcullis_view_of(key);
    plugin_string_t said = portcullis_say(name);
    portcullis_tool_tools_own_toolset_t handle;
    portcullis_tool_tools_unavailable_t why;
    bool opened = portcullis_tool_tools_open_tools(&said, &handle, &why);
    portcullis_unsay(said, name);
    if (!opened) return portcullis_no_handle(failure, "set of tools", key, why);
    *toolset = (portcullis_toolset){handle.__handle};
    return true;
}

void portcullis_close_tools(portcullis_toolset toolset) {
    portcullis_tool_tools_toolset_drop_own((portcullis_tool_tools_own_toolset_t){toolset.handle});
}

// ---- Lists and definitions ----

static portcullis_bytes take_text(plugin_string_t text) {
    return portcullis_take(text.ptr, text.len);
}

static portcullis_tool_summary *take_summaries(portcullis_tool_tools_list_summary_t list, size_t *count) {
    portcullis_tool_summary *summaries = portcullis_allocate_list(list.len, sizeof *summaries);
    for (size_t i = 0; i < list.len; i++) {
        summaries[i] = (portcullis_tool_summary){
            .name = take_text(list.ptr[i].name),
            .title = portcullis_take_optional(list.ptr[i].title),
            .description = take_text(list.ptr[i].description),
        };
    }
    *count = list.len;
    if (list.len > 0) free(list.ptr);
    return summaries;
}

portcullis_tool_summary *portcullis_list_tools(portcullis_toolset toolset, size_t *count) {
    portcullis_tool_tools_list_summary_t list;
    portcullis_tool_tools_method_toolset_list(borrow(toolset), &list);
    return take_summaries(list, count);
}

portcullis_tool_summary *portcullis_search_tools(portcullis_toolset toolset, const char *query, uint32_t tools_max,
                                                 size_t *count) {
    return portcullis_search_tools_of(toolset, portcullis_view_of(query), tools_max, count);
}

portcullis_tool_summary *portcullis_search_tools_of(portcullis_toolset toolset, portcullis_view query,
                                                    uint32_t tools_max, size_t *count) {
    plugin_string_t said = portcullis_say(query);
    portcullis_tool_tools_list_summary_t list;
    portcullis_tool_tools_method_toolset_search(borrow(toolset), &said, tools_max, &list);
    portcullis_unsay(said, query);
    return take_summaries(list, count);
}

static void free_summary(portcullis_tool_summary *summary) {
    free(summary->name.data);
    free(summary->title.data);
    free(summary->description.data);
    *summary = (portcullis_tool_summary){0};
}

void portcullis_free_summaries(portcullis_tool_summary *summaries, size_t count) {
    for (size_t i = 0; i < count; i++) free_summary(&summaries[i]);
    free(summaries);
}

bool portcullis_define_tool(portcullis_toolset toolset, const char *tool, portcullis_callable *definition) {
    return portcullis_define_tool_of(toolset, portcullis_view_of(tool), definition);
}

bool portcullis_define_tool_of(portcullis_toolset toolset, portcullis_view tool, portcullis_callable *definition) {
    // No tool has a name with replaced bytes.
    plugin_string_t said = portcullis_say(tool);
    portcullis_tool_tools_callable_t found;
    bool is_found = portcullis_tool_tools_method_toolset_definition(borrow(toolset), &said, &found);
    portcullis_unsay(said, tool);
    if (!is_found) return false;
    *definition = (portcullis_callable){
        .summary = {take_text(found.name), portcullis_take_optional(found.title), take_text(found.description)},
        .schema = take_text(found.schema),
        .output_schema = portcullis_take_optional(found.output_schema),
        .permissions = found.permissions,
        .hints = found.hints,
    };
    return true;
}

void portcullis_free_callable(portcullis_callable *definition) {
    free_summary(&definition->summary);
    free(definition->schema.data);
    free(definition->output_schema.data);
    *definition = (portcullis_callable){0};
}

// ---- Calls ----

static portcullis_part take_blob(portcullis_part_kind kind, portcullis_tool_types_blob_t blob) {
    portcullis_bytes data = portcullis_take(blob.data.ptr, blob.data.len);
    return (portcullis_part){
        .kind = kind,
        .media_type = take_text(blob.media_type).data,
        .data = data.data,
        .length = data.length,
        .name = portcullis_take_optional(blob.name).data,
    };
}

static portcullis_part take_part(portcullis_tool_types_part_t part) {
    switch (part.tag) {
        case PORTCULLIS_TOOL_TYPES_PART_TEXT: {
            portcullis_bytes text = take_text(part.val.text);
            return (portcullis_part){.kind = PORTCULLIS_PART_TEXT, .data = text.data, .length = text.length};
        }
        case PORTCULLIS_TOOL_TYPES_PART_IMAGE:
            return take_blob(PORTCULLIS_PART_IMAGE, part.val.image);
        default:
            return take_blob(PORTCULLIS_PART_FILE, part.val.file);
    }
}

static portcullis_answer take_success(portcullis_tool_tools_success_t success) {
    portcullis_bytes title = portcullis_take_optional(success.title);
    portcullis_bytes metadata = portcullis_take_optional(success.metadata);
    portcullis_answer answer = {
        .kind = (portcullis_answer_kind)success.output.tag,
        .title = title.data,
        .title_length = title.length,
        .metadata = metadata.data,
        .metadata_length = metadata.length,
    };
    if (answer.kind == PORTCULLIS_ANSWER_PARTS) {
        portcullis_tool_types_list_part_t list = success.output.val.parts;
        portcullis_part *parts = portcullis_allocate_list(list.len, sizeof *parts);
        for (size_t i = 0; i < list.len; i++) parts[i] = take_part(list.ptr[i]);
        if (list.len > 0) free(list.ptr);
        answer.parts = parts;
        answer.part_count = list.len;
    } else {
        // Text and JSON have the same layout.
        portcullis_bytes text = take_text(success.output.val.text);
        answer.text = text.data;
        answer.text_length = text.length;
    }
    return answer;
}

static portcullis_failure take_failure(portcullis_tool_tools_failure_t from) {
    portcullis_failure_kind kind = (portcullis_failure_kind)from.tag;
    if (kind == PORTCULLIS_CANCELLED) {
        return (portcullis_failure){.kind = kind, .message = portcullis_format("the call was cancelled")};
    }
    // All kinds with a message have it in the same place.
    portcullis_failure failure = portcullis_words(kind, from.val.failed);
    if (kind == PORTCULLIS_UNAVAILABLE && from.val.unavailable.retry_after_seconds.is_some) {
        failure.retry_after_seconds = from.val.unavailable.retry_after_seconds.val;
    }
    return failure;
}

// Lends a call to the host. On false a text is not UTF-8.
static bool mean_call(portcullis_tool_call call, portcullis_tool_tools_tool_call_t *meant,
                      portcullis_failure *failure) {
    portcullis_view arguments = call.arguments.data ? call.arguments : portcullis_view_of("{}");
    return portcullis_mean(call.tool, "the name of a tool", &meant->tool, failure) &&
           portcullis_mean(arguments, "the arguments of a tool", &meant->arguments, failure);
}

bool portcullis_call_tool(portcullis_toolset toolset, const char *tool, const char *arguments,
                          portcullis_answer *answer, portcullis_failure *failure) {
    return portcullis_call_tool_of(toolset, portcullis_view_of(tool), portcullis_view_of(arguments), answer, failure);
}

bool portcullis_call_tool_of(portcullis_toolset toolset, portcullis_view tool, portcullis_view arguments,
                             portcullis_answer *answer, portcullis_failure *failure) {
    portcullis_tool_tools_tool_call_t call;
    if (!mean_call((portcullis_tool_call){tool, arguments}, &call, failure)) return false;
    portcullis_tool_tools_success_t success;
    portcullis_tool_tools_failure_t refusal;
    if (!portcullis_tool_tools_method_toolset_call(borrow(toolset), &call, &success, &refusal)) {
        *failure = take_failure(refusal);
        return false;
    }
    *answer = take_success(success);
    return true;
}

// Lends calls to the host, for the caller to free the list. On false a text is not UTF-8, and there is no list.
static bool mean_calls(const portcullis_tool_call *calls, size_t count, portcullis_tool_tools_list_tool_call_t *list,
                       portcullis_failure *failure) {
    *list = (portcullis_tool_tools_list_tool_call_t){portcullis_allocate_list(count, sizeof *list->ptr), count};
    for (size_t i = 0; i < count; i++) {
        if (mean_call(calls[i], &list->ptr[i], failure)) continue;
        free(list->ptr);
        return false;
    }
    return true;
}

// The host answers each call. Otherwise nothing says which answer belongs to which call.
static void check_count(size_t answers, size_t calls) {
    if (answers != calls) abort();
}

bool portcullis_call_tools(portcullis_toolset toolset, const portcullis_tool_call *calls, size_t count,
                           portcullis_answer **answers, portcullis_failure *failure) {
    portcullis_tool_tools_list_tool_call_t list;
    if (!mean_calls(calls, count, &list, failure)) return false;
    portcullis_tool_tools_list_result_success_failure_t results;
    portcullis_tool_tools_method_toolset_call_all(borrow(toolset), &list, &results);
    free(list.ptr);
    check_count(results.len, count);
    *answers = portcullis_allocate_list(count, sizeof **answers);
    for (size_t i = 0; i < count; i++) {
        if (results.ptr[i].is_err) {
            (*answers)[i] = portcullis_fail_with(take_failure(results.ptr[i].val.err));
        } else {
            (*answers)[i] = take_success(results.ptr[i].val.ok);
        }
    }
    if (results.len > 0) free(results.ptr);
    return true;
}

// ---- Plans ----

bool portcullis_foresee_calls(portcullis_toolset toolset, const portcullis_tool_call *calls, size_t count,
                              portcullis_outlook **outlooks, portcullis_failure *failure) {
    portcullis_tool_tools_list_tool_call_t list;
    if (!mean_calls(calls, count, &list, failure)) return false;
    portcullis_tool_tools_list_outlook_t foreseen;
    portcullis_tool_tools_method_toolset_foresee(borrow(toolset), &list, &foreseen);
    free(list.ptr);
    check_count(foreseen.len, count);
    *outlooks = portcullis_allocate_list(count, sizeof **outlooks);
    for (size_t i = 0; i < count; i++) {
        (*outlooks)[i] = (portcullis_outlook){.kind = (portcullis_outlook_kind)foreseen.ptr[i].tag};
        if ((*outlooks)[i].kind == PORTCULLIS_FAILS) (*outlooks)[i].failure = take_failure(foreseen.ptr[i].val.fails);
    }
    if (foreseen.len > 0) free(foreseen.ptr);
    return true;
}

void portcullis_free_outlooks(portcullis_outlook *outlooks, size_t count) {
    for (size_t i = 0; i < count; i++) free((char *)outlooks[i].failure.message);
    free(outlooks);
}

bool portcullis_approve_calls(portcullis_toolset toolset, const portcullis_tool_call *calls, size_t count,
                              bool **approved, portcullis_failure *failure) {
    portcullis_tool_tools_list_tool_call_t list;
    if (!mean_calls(calls, count, &list, failure)) return false;
    plugin_list_bool_t said;
    portcullis_tool_tools_method_toolset_approve(borrow(toolset), &list, &said);
    free(list.ptr);
    check_count(said.len, count);
    *approved = portcullis_allocate_list(count, sizeof **approved);
    for (size_t i = 0; i < count; i++) (*approved)[i] = said.ptr[i];
    if (said.len > 0) free(said.ptr);
    return true;
}

// ---- Answers ----

// Returns a copy of the texts among the parts, one line each.
static portcullis_bytes join_texts(const portcullis_part *parts, size_t count) {
    portcullis_bytes joined = portcullis_take(NULL, 0);
    bool is_first = true;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].kind != PORTCULLIS_PART_TEXT) continue;
        if (!is_first) portcullis_append(&joined, (portcullis_view){"\n", 1});
        portcullis_append(&joined, (portcullis_view){parts[i].data, parts[i].length});
        is_first = false;
    }
    return joined;
}

portcullis_bytes portcullis_answer_text(const portcullis_answer *answer) {
    portcullis_view text = {answer->text, answer->text_length};
    if (answer->kind == PORTCULLIS_ANSWER_PARTS) return join_texts(answer->parts, answer->part_count);
    if (answer->kind == PORTCULLIS_ANSWER_FAILURE) {
        text = portcullis_view_to(answer->failure.message, answer->failure.message_length);
    }
    portcullis_bytes copy = portcullis_take(NULL, 0);
    portcullis_append(&copy, text);
    return copy;
}

void portcullis_free_answer(portcullis_answer *answer) {
    free((char *)answer->title);
    free((char *)answer->metadata);
    free((char *)answer->text);
    free((char *)answer->failure.message);
    for (size_t i = 0; i < answer->part_count; i++) {
        free((char *)answer->parts[i].media_type);
        free((void *)answer->parts[i].data);
        free((char *)answer->parts[i].name);
    }
    free((portcullis_part *)answer->parts);
    *answer = (portcullis_answer){.kind = PORTCULLIS_ANSWER_TEXT};
}

void portcullis_free_answers(portcullis_answer *answers, size_t count) {
    for (size_t i = 0; i < count; i++) portcullis_free_answer(&answers[i]);
    free(answers);
}
