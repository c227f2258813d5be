// Tools of other plugins that a policy lets this plugin call.
//
// The policy binds the tools to a key of the kind PORTCULLIS_TOOLS. Each call takes all the steps of a call by a
// caller: the host checks, decides, limits and records it, and asks an approver where the policy says so.
//
// What these functions return lives until the end of the call. A tool that makes many calls frees it before, with the
// function that is named beside it.
#ifndef PORTCULLIS_TOOLSET_H
#define PORTCULLIS_TOOLSET_H

#include "host.h"

#ifdef __cplusplus
extern "C" {
#endif

// The tools that the policy binds to a key.
typedef struct portcullis_toolset {
    int32_t handle;
} portcullis_toolset;

// Opens the tools of a key. Nothing is called yet.
bool portcullis_open_tools(const char *key, portcullis_toolset *toolset, portcullis_failure *failure);
// The end of the call closes it too.
void portcullis_close_tools(portcullis_toolset toolset);

// A tool in a list. The texts are those of another plugin: do not trust them.
typedef struct portcullis_tool_summary {
    portcullis_bytes name;   // the full name, such as "files.read"
    portcullis_bytes title;  // a few words for people; without data if there are none
    portcullis_bytes description;
} portcullis_tool_summary;

// Returns the tools that a call could reach now, sorted by name. Free them with portcullis_free_summaries.
portcullis_tool_summary *portcullis_list_tools(portcullis_toolset toolset, size_t *count);
// Returns the tools that fit a need best, at most `tools_max`, the best first. `query` describes the need in words.
portcullis_tool_summary *portcullis_search_tools(portcullis_toolset toolset, const char *query, uint32_t tools_max,
                                                 size_t *count);
portcullis_tool_summary *portcullis_search_tools_of(portcullis_toolset toolset, portcullis_view query,
                                                    uint32_t tools_max, size_t *count);
void portcullis_free_summaries(portcullis_tool_summary *summaries, size_t count);

// The definition of a tool of another plugin.
typedef struct portcullis_callable {
    portcullis_tool_summary summary;
    portcullis_bytes schema;         // JSON Schema of the arguments
    portcullis_bytes output_schema;  // JSON Schema of the output; without data if the tool returns no JSON
    unsigned permissions;            // those that the tool may use
    unsigned hints;                  // what its author claims
} portcullis_callable;

// Returns false if no call could reach the tool. Free the definition with portcullis_free_callable.
bool portcullis_define_tool(portcullis_toolset toolset, const char *tool, portcullis_callable *definition);
bool portcullis_define_tool_of(portcullis_toolset toolset, portcullis_view tool, portcullis_callable *definition);
void portcullis_free_callable(portcullis_callable *definition);

// Calls a tool and waits for its answer. `arguments` is one JSON object; NULL is an empty one. The time of the tool
// counts for this call, and the time in which it waits for an approver or for its turn does not.
//
// On false the host refused the call, or the tool failed. The failure has the kind and the text that a model would get.
// A tool may return the answer as its own. Otherwise it may free it with portcullis_free_answer.
bool portcullis_call_tool(portcullis_toolset toolset, const char *tool, const char *arguments,
                          portcullis_answer *answer, portcullis_failure *failure);
bool portcullis_call_tool_of(portcullis_toolset toolset, portcullis_view tool, portcullis_view arguments,
                             portcullis_answer *answer, portcullis_failure *failure);

// A call of a tool of another plugin.
typedef struct portcullis_tool_call {
    portcullis_view tool;       // the full name
    portcullis_view arguments;  // one JSON object; without data: an empty one
} portcullis_tool_call;

// Calls several tools at the same time. A tool that may change something runs alone. There are as many answers as
// calls, in their order; that of a call that failed has the kind PORTCULLIS_ANSWER_FAILURE. On false no tool was
// called. Free the answers with portcullis_free_answers.
bool portcullis_call_tools(portcullis_toolset toolset, const portcullis_tool_call *calls, size_t count,
                           portcullis_answer **answers, portcullis_failure *failure);

// What the host would do with a call.
typedef enum portcullis_outlook_kind {
    PORTCULLIS_RUNS,            // the call would run
    PORTCULLIS_NEEDS_APPROVAL,  // an approver would be asked
    PORTCULLIS_FAILS,           // the call would fail
} portcullis_outlook_kind;

typedef struct portcullis_outlook {
    portcullis_outlook_kind kind;
    portcullis_failure failure;  // of FAILS
} portcullis_outlook;

// Says what the host would do with each call now, at most 100. Nothing runs, and no approver is asked. There are as
// many outlooks as calls, in their order. Free them with portcullis_free_outlooks.
bool portcullis_foresee_calls(portcullis_toolset toolset, const portcullis_tool_call *calls, size_t count,
                              portcullis_outlook **outlooks, portcullis_failure *failure);
void portcullis_free_outlooks(portcullis_outlook *outlooks, size_t count);

// Asks an approver about calls together before they are made, at most 100. The approver reads the exact arguments of
// each, and approves all, some or none. Says for each call whether it can now be made without a request of its own.
// Free the list with free().
//
// Each approval counts once, for exactly these arguments, until this call ends. A call that the approver did not
// approve fails when it is made. The host does not ask about a single call, or where no approver can answer now.
bool portcullis_approve_calls(portcullis_toolset toolset, const portcullis_tool_call *calls, size_t count,
                              bool **approved, portcullis_failure *failure);

// Returns an answer as text: a text itself, a JSON document as it is written, of parts their texts, one line each, and
// of a failure its message.
portcullis_bytes portcullis_answer_text(const portcullis_answer *answer);

// Frees an answer of a called tool, and leaves an empty text. Do not use it for an answer that your tool made.
void portcullis_free_answer(portcullis_answer *answer);
void portcullis_free_answers(portcullis_answer *answers, size_t count);

#ifdef __cplusplus
}
#endif

#endif
