// The exports of every plugin, based on its tables.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocation.h"
#include "run.h"
#include "text.h"
#include "utf8.h"

// The schema of a tool without arguments.
static const char NO_ARGUMENTS[] = "{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}";

// The bindings refer to this symbol to link the contract as an object file. The build of Portcullis adds the contract
// to the finished module instead.
void __component_type_object_force_link_plugin(void) {}

// Gives informational text to the host. Invalid UTF-8 is replaced.
static plugin_string_t give_said(portcullis_view text) {
    plugin_string_t said = portcullis_say(text);
    plugin_string_t given = portcullis_give((portcullis_view){(const char *)said.ptr, said.len});
    portcullis_unsay(said, text);
    return given;
}

static plugin_option_string_t give_optional(portcullis_view text) {
    return text.data ? (plugin_option_string_t){true, give_said(text)} : (plugin_option_string_t){0};
}

static plugin_string_t give(const char *text) {
    return give_said(portcullis_view_of(text));
}

static portcullis_tool_types_definition_t definition(const portcullis_tool *tool) {
    return (portcullis_tool_types_definition_t){
        .name = give(tool->name),
        .title = give_optional(portcullis_view_of(tool->title)),
        .description = give(tool->description),
        .schema = give(tool->schema ? tool->schema : NO_ARGUMENTS),
        .output_schema = give_optional(portcullis_view_of(tool->output_schema)),
        .required = (portcullis_tool_types_permissions_t)tool->required,
        .optional = (portcullis_tool_types_permissions_t)tool->optional,
        .hints = (portcullis_tool_types_hints_t)tool->hints,
    };
}

void exports_portcullis_tool_handler_describe(exports_portcullis_tool_handler_manifest_t *manifest) {
    const portcullis_plugin *plugin = &portcullis_this_plugin;
    *manifest = (exports_portcullis_tool_handler_manifest_t){
        .name = give(plugin->name),
        .version = give(plugin->version),
        .description = give(plugin->description),
        .tools = {portcullis_allocate(plugin->tool_count * sizeof *manifest->tools.ptr), plugin->tool_count},
        .dependencies = {portcullis_allocate(plugin->dependency_count * sizeof *manifest->dependencies.ptr),
                         plugin->dependency_count},
    };
    for (size_t i = 0; i < plugin->tool_count; i++) manifest->tools.ptr[i] = definition(&plugin->tools[i]);
    for (size_t i = 0; i < plugin->dependency_count; i++) {
        const portcullis_dependency *dependency = &plugin->dependencies[i];
        manifest->dependencies.ptr[i] = (portcullis_tool_types_dependency_t){
            .key = give(dependency->key),
            .kind = (portcullis_tool_types_dependency_kind_t)dependency->kind,
            .optional = dependency->optional,
            .reason = give(dependency->reason),
        };
    }
}

static const portcullis_tool *tool_named(plugin_string_t name) {
    const portcullis_plugin *plugin = &portcullis_this_plugin;
    for (size_t i = 0; i < plugin->tool_count; i++) {
        const char *other = plugin->tools[i].name;
        if (strlen(other) == name.len && memcmp(other, name.ptr, name.len) == 0) return &plugin->tools[i];
    }
    return NULL;
}

// Returns whether an answer is valid UTF-8.
static bool is_utf8(const portcullis_answer *answer) {
    bool is = portcullis_is_utf8(portcullis_view_to(answer->metadata, answer->metadata_length));
    if (answer->kind != PORTCULLIS_ANSWER_PARTS) {
        return is && portcullis_is_utf8((portcullis_view){answer->text, answer->text_length});
    }
    for (size_t i = 0; i < answer->part_count; i++) {
        const portcullis_part *part = &answer->parts[i];
        bool is_text = part->kind == PORTCULLIS_PART_TEXT;
        is = is && portcullis_is_utf8(is_text ? (portcullis_view){part->data, part->length}
                                              : portcullis_view_of(part->media_type));
        is = is && portcullis_is_utf8(portcullis_view_of(part->name));
    }
    return is;
}

static portcullis_tool_types_list_part_t give_parts(const portcullis_part *parts, size_t count) {
    portcullis_tool_types_part_t *given = portcullis_allocate(count * sizeof *given);
    for (size_t i = 0; i < count; i++) {
        const portcullis_part *part = &parts[i];
        plugin_string_t data = portcullis_give((portcullis_view){part->data, part->length});
        given[i].tag = (uint8_t)part->kind;
        if (part->kind == PORTCULLIS_PART_TEXT) {
            given[i].val.text = data;
        } else {
            // Images and files have the same layout.
            given[i].val.file = (portcullis_tool_types_blob_t){
                .name = give_optional(portcullis_view_of(part->name)),
                .media_type = give(part->media_type),
                .data = {data.ptr, data.len},
            };
        }
    }
    return (portcullis_tool_types_list_part_t){given, count};
}

static void give_success(const portcullis_answer *answer, portcullis_tool_types_success_t *success) {
    *success = (portcullis_tool_types_success_t){
        .title = give_optional(portcullis_view_to(answer->title, answer->title_length)),
        .output.tag = (uint8_t)answer->kind,
        .metadata = give_optional(portcullis_view_to(answer->metadata, answer->metadata_length)),
    };
    if (answer->kind == PORTCULLIS_ANSWER_PARTS) {
        success->output.val.parts = give_parts(answer->parts, answer->part_count);
    } else {
        // Text and JSON have the same layout.
        success->output.val.text = portcullis_give((portcullis_view){answer->text, answer->text_length});
    }
}

static void give_failure(portcullis_failure from, portcullis_tool_types_failure_t *failure) {
    *failure = (portcullis_tool_types_failure_t){.tag = (uint8_t)from.kind};
    if (from.kind == PORTCULLIS_CANCELLED) return;
    plugin_string_t message = give_said(portcullis_view_to(from.message, from.message_length));
    if (from.kind == PORTCULLIS_UNAVAILABLE) {
        failure->val.unavailable = (portcullis_tool_types_outage_t){
            .message = message,
            .retry_after_seconds = {from.retry_after_seconds > 0, from.retry_after_seconds},
        };
    } else {
        // The other kinds have the same layout.
        failure->val.failed = message;
    }
}

bool exports_portcullis_tool_handler_execute_raw(plugin_string_t *name, plugin_string_t *arguments,
                                                 exports_portcullis_tool_handler_success_t *success,
                                                 exports_portcullis_tool_handler_failure_t *failure) {
    const portcullis_tool *tool = tool_named(*name);
    portcullis_answer answer = tool ? portcullis_run(tool, portcullis_take(arguments->ptr, arguments->len))
                                    : portcullis_fail(PORTCULLIS_FAILED, "there is no such tool");
    // Flush, because buffered output would be lost with the instance.
    fflush(NULL);
    portcullis_end_answer();
    if (answer.kind != PORTCULLIS_ANSWER_FAILURE && !is_utf8(&answer)) answer = portcullis_not_utf8();
    if (answer.kind == PORTCULLIS_ANSWER_FAILURE) {
        give_failure(answer.failure, failure);
        return false;
    }
    give_success(&answer, success);
    return true;
}
