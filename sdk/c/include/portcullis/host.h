// The manifest of a plugin, the answers of its tools, and the functions of the host.
//
// Each call has a new instance. So you need not free what these functions return; a tool that processes much data may
// free it with free(). If memory runs out, the call is aborted.
//
// Text is UTF-8 and NUL-terminated. Text from the host also has a length, because it may contain NUL. For a plugin's
// text that may contain NUL, there are functions and members that take a length.
//
// In informational text, such as a log line, a title or the message of a failure, invalid UTF-8 is replaced by U+FFFD.
// An answer, a key or a resource is never changed: if it is not UTF-8, that is a failure.
#ifndef PORTCULLIS_HOST_H
#define PORTCULLIS_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PORTCULLIS_PRINTF(text, first) __attribute__((__format__(__printf__, text, first)))

// JSON literals in C source: PORTCULLIS_JSON({"type": "object"}).
#define PORTCULLIS_JSON(...) #__VA_ARGS__

struct portcullis_answer;
struct yyjson_val;

// The number of elements of an array.
#define PORTCULLIS_COUNT(array) (sizeof(array) / sizeof(*(array)))

// Bytes from the host, followed by a NUL that is not counted.
typedef struct portcullis_bytes {
    char *data;  // NULL: absent, which differs from an empty text
    size_t length;
} portcullis_bytes;

// Text that may contain NUL. It need not be NUL-terminated.
typedef struct portcullis_view {
    const char *data;  // NULL: absent
    size_t length;
} portcullis_view;

// Returns a view of NUL-terminated text.
portcullis_view portcullis_view_of(const char *text);

// The view of a string literal, as an initializer: static const portcullis_view ARGUMENTS[] = {PORTCULLIS_VIEW("log")};
#define PORTCULLIS_VIEW(literal) {"" literal, sizeof(literal) - 1}

// Returns text in which invalid UTF-8 is replaced by U+FFFD, for bytes that may be anything.
portcullis_bytes portcullis_to_utf8(portcullis_view bytes);

// ---- The manifest ----

// Permissions that a tool may use; combined with `|`.
enum portcullis_permission {
    PORTCULLIS_READ = 1,
    PORTCULLIS_WRITE = 2,
    PORTCULLIS_EXECUTE = 4,
    PORTCULLIS_NETWORK = 8,
};

// What the author claims about a tool; combined with `|`.
enum portcullis_hint {
    PORTCULLIS_READ_ONLY = 1,    // changes nothing outside the sandbox
    PORTCULLIS_DESTRUCTIVE = 2,  // may destroy or overwrite something
    PORTCULLIS_IDEMPOTENT = 4,   // the same call twice has the effect of one
    PORTCULLIS_OPEN_WORLD = 8,   // reaches things outside the host's control
    PORTCULLIS_SEQUENTIAL = 16,  // must not run at the same time as another call of the session
};

typedef enum portcullis_dependency_kind {
    PORTCULLIS_DIRECTORY,
    PORTCULLIS_HTTP,
    PORTCULLIS_STORE,
    PORTCULLIS_SERVICE,
    PORTCULLIS_PROCESS,  // a program of the system, see program.h
    PORTCULLIS_TOOLS,    // tools of other plugins, see toolset.h
} portcullis_dependency_kind;

// A handle that the plugin asks for. Asking grants nothing: a call gets it only if the policy binds the key.
typedef struct portcullis_dependency {
    const char *key;
    portcullis_dependency_kind kind;
    bool optional;       // false: calls are denied while the policy does not bind the key
    const char *reason;  // for the person who writes the policy
} portcullis_dependency;

// A tool. Members that are not set are absent.
typedef struct portcullis_tool {
    const char *name;
    const char *title;        // a few words for people
    const char *description;  // for the model
    const char *schema;       // JSON Schema of the arguments; NULL: the tool takes none
    const char *output_schema;
    unsigned required;  // permissions that it needs
    unsigned optional;  // permissions that it can use but does not need
    unsigned hints;
    // Gets one JSON object that is valid for the schema.
    struct portcullis_answer (*run)(struct yyjson_val *arguments);
} portcullis_tool;

typedef struct portcullis_plugin {
    const char *name;  // also the name of the file, without .wasm
    const char *version;
    const char *description;
    const portcullis_tool *tools;
    size_t tool_count;
    const portcullis_dependency *dependencies;
    size_t dependency_count;
} portcullis_plugin;

// Every plugin defines this.
extern const portcullis_plugin portcullis_this_plugin;

// ---- Answers ----

// Why a tool failed.
typedef enum portcullis_failure_kind {
    PORTCULLIS_INVALID_ARGUMENTS,  // they match the schema, but are still wrong
    PORTCULLIS_DENIED,             // a permission was missing
    PORTCULLIS_UNAVAILABLE,        // something outside the tool did not work; trying again later may help
    PORTCULLIS_CANCELLED,          // the call was cancelled; this one has no message
    PORTCULLIS_FAILED,
} portcullis_failure_kind;

// The message is for the model: say what would help.
typedef struct portcullis_failure {
    portcullis_failure_kind kind;
    const char *message;
    size_t message_length;  // 0: the message is NUL-terminated
    uint32_t retry_after_seconds;  // of UNAVAILABLE: when trying again may help; 0: unknown
} portcullis_failure;

typedef enum portcullis_part_kind { PORTCULLIS_PART_TEXT, PORTCULLIS_PART_IMAGE, PORTCULLIS_PART_FILE } portcullis_part_kind;

// A piece of an answer.
typedef struct portcullis_part {
    portcullis_part_kind kind;
    const char *media_type;  // such as "image/png"; NULL for a text
    const void *data;
    size_t length;
    const char *name;  // the file name for people, such as "report.csv", never a path; NULL: none
} portcullis_part;

typedef enum portcullis_answer_kind {
    PORTCULLIS_ANSWER_TEXT,
    PORTCULLIS_ANSWER_JSON,
    PORTCULLIS_ANSWER_PARTS,
    PORTCULLIS_ANSWER_FAILURE,
} portcullis_answer_kind;

// What a tool returns. The functions below create one; set `title` and `metadata` afterwards.
typedef struct portcullis_answer {
    portcullis_answer_kind kind;
    const char *title;       // a few words for people, or NULL
    size_t title_length;     // 0: the title is NUL-terminated
    const char *metadata;    // one JSON object for programs, or NULL
    size_t metadata_length;  // 0: the metadata is NUL-terminated
    const char *text;        // of TEXT and JSON
    size_t text_length;
    const portcullis_part *parts;  // of PARTS
    size_t part_count;
    portcullis_failure failure;  // of FAILURE
} portcullis_answer;

// The text is not copied: it must live until the end of the call.
portcullis_answer portcullis_text(const char *text);
portcullis_answer portcullis_text_of(const char *data, size_t length);
portcullis_answer portcullis_textf(const char *format, ...) PORTCULLIS_PRINTF(1, 2);
// One JSON document as text. portcullis_json() in portcullis.h takes a value.
portcullis_answer portcullis_json_of(const char *data, size_t length);
// The parts are not copied.
portcullis_answer portcullis_parts(const portcullis_part *parts, size_t count);
portcullis_answer portcullis_fail(portcullis_failure_kind kind, const char *format, ...) PORTCULLIS_PRINTF(2, 3);
portcullis_answer portcullis_fail_of(portcullis_failure_kind kind, portcullis_view message);
// Returns the answer for a failure of a function of this library.
portcullis_answer portcullis_fail_with(portcullis_failure failure);

// Returns text that is formatted like printf.
char *portcullis_format(const char *format, ...) PORTCULLIS_PRINTF(1, 2);

// ---- The call ----

// Returns the running call. `message` and `agent` have no data if the caller named none.
typedef struct portcullis_call {
    portcullis_bytes id, session, message, agent;
} portcullis_call;

portcullis_call portcullis_current_call(void);

// Reports progress. NULL and a fraction below 0 keep the last value.
// `metadata` is one JSON object.
void portcullis_progress(const char *title, float fraction, const char *metadata);
void portcullis_progress_of(portcullis_view title, float fraction, portcullis_view metadata);

// Returns whether the caller has cancelled the call. The host stops the call shortly after this becomes true.
bool portcullis_is_cancelled(void);

// Asks the policy or an approver whether an action is allowed. `permission` is the name of one of the tool's
// permissions, such as "write". Returns false if it is not allowed; the failure says why.
bool portcullis_ask(const char *permission, const char *resource, const char *reason, portcullis_failure *failure);
bool portcullis_ask_of(portcullis_view permission, portcullis_view resource, portcullis_view reason,
                       portcullis_failure *failure);

// Keeps a file for people beside the answer, such as a transcript. The caller gets its name, media type and size, and a
// reference to read it with. Only a call that succeeds keeps its files. A tool cannot keep files beside a text that it
// writes with portcullis_write, or beside JSON with an output schema. The name may be NULL.
bool portcullis_keep_file(const char *name, const char *media_type, const void *data, size_t length,
                          portcullis_failure *failure);

typedef enum portcullis_level {
    PORTCULLIS_TRACE,
    PORTCULLIS_DEBUG,
    PORTCULLIS_INFO,
    PORTCULLIS_WARN,
    PORTCULLIS_ERROR,
    PORTCULLIS_CRITICAL,
} portcullis_level;

// Writes a line to the audit log of the call.
void portcullis_log(portcullis_level level, const char *format, ...) PORTCULLIS_PRINTF(2, 3);
void portcullis_log_of(portcullis_level level, portcullis_view text);

// Returns a setting of the policy's `config`; without data if it is not set.
portcullis_bytes portcullis_setting(const char *key);
portcullis_bytes portcullis_setting_of(portcullis_view key);

// Writes the next piece of a large text answer while the tool runs. The tool then returns the rest of the text, which
// may be empty.
bool portcullis_write(const void *data, size_t length, portcullis_failure *failure);

// ---- Reviews ----

// The result of a review, before the call runs. It can only tighten what the policy decided.
typedef enum portcullis_verdict_kind { PORTCULLIS_CLEAR, PORTCULLIS_ASK, PORTCULLIS_REFUSE } portcullis_verdict_kind;

typedef struct portcullis_verdict {
    portcullis_verdict_kind kind;
    const char *text;  // the reason of ASK or REFUSE
} portcullis_verdict;

// A review has no handles, and low limits for time and memory. `arguments` is one JSON object.
typedef portcullis_verdict portcullis_reviewer(const char *tool, const char *arguments, size_t length);

// Makes a function the plugin's reviewer. Use it once, outside of functions.
#define PORTCULLIS_REVIEWER(function)                                                                     \
    __attribute__((export_name("portcullis:tool/reviewer@0.2.0#review"))) void *portcullis_export_review( \
        char *tool, size_t tool_length, char *arguments, size_t arguments_length);                        \
    void *portcullis_export_review(char *tool, size_t tool_length, char *arguments, size_t length) {      \
        return portcullis_review_by(function, tool, tool_length, arguments, length);                      \
    }

void *portcullis_review_by(portcullis_reviewer *reviewer, char *tool, size_t tool_length, char *arguments, size_t length);

// Returns whether the policy's binding of an HTTP key names the host of a URL. Also works in a review.
bool portcullis_names_host(const char *key, const char *url, bool *names, portcullis_failure *failure);
bool portcullis_names_host_of(const char *key, portcullis_view url, bool *names, portcullis_failure *failure);

// ---- Handles: on false there is no result, and the failure says why ----

// The directory of a key is at "/KEY" for fopen, opendir and other functions.

typedef struct portcullis_store {
    const char *key;
    int32_t handle;
} portcullis_store;

bool portcullis_open_store(const char *key, portcullis_store *store, portcullis_failure *failure);
// The end of the call closes it too.
void portcullis_close_store(portcullis_store store);
// A missing key has no data.
bool portcullis_store_get(portcullis_store store, const char *key, portcullis_bytes *value, portcullis_failure *failure);
bool portcullis_store_get_of(portcullis_store store, portcullis_view key, portcullis_bytes *value,
                             portcullis_failure *failure);
bool portcullis_store_set(portcullis_store store, const char *key, const void *data, size_t length,
                          portcullis_failure *failure);
bool portcullis_store_set_of(portcullis_store store, portcullis_view key, const void *data, size_t length,
                             portcullis_failure *failure);
bool portcullis_store_delete(portcullis_store store, const char *key, portcullis_failure *failure);
bool portcullis_store_delete_of(portcullis_store store, portcullis_view key, portcullis_failure *failure);
// Returns all keys, in no particular order.
bool portcullis_store_keys(portcullis_store store, portcullis_bytes **keys, size_t *count, portcullis_failure *failure);

// Calls a method of the application that embeds the host: one JSON document in, one out.
bool portcullis_call_service(const char *key, const char *method, const char *input, portcullis_bytes *output,
                             portcullis_failure *failure);
bool portcullis_call_service_of(const char *key, portcullis_view method, portcullis_view input,
                                portcullis_bytes *output, portcullis_failure *failure);

typedef struct portcullis_header {
    const char *name;
    const char *value;
} portcullis_header;

// Default maximum of a response: enough for a model, and far below the memory limit of a guest.
#define PORTCULLIS_BODY_BYTES_MAX ((size_t)8 * 1024 * 1024)

typedef struct portcullis_request {
    const char *method;  // NULL: GET
    const char *url;
    const portcullis_header *headers;
    size_t header_count;
    const void *body;
    size_t body_length;
    uint32_t timeout_ms;    // for the whole exchange; 0: the policy's limit
    size_t body_bytes_max;  // of the response; 0: PORTCULLIS_BODY_BYTES_MAX
} portcullis_request;

typedef struct portcullis_response {
    uint16_t status;
    portcullis_header *headers;
    size_t header_count;
    portcullis_bytes body;
} portcullis_response;

// Sends a request through the HTTP client of a key. Every answer of a server is a response, whatever its status. A
// redirect is a response too: a request to its target gets its own policy decision. DENIED: the policy does not cover
// the request, and nothing was sent.
bool portcullis_fetch(const char *key, const portcullis_request *request, portcullis_response *response,
                      portcullis_failure *failure);

// Returns the first header with a name, ignoring case; NULL if there is none.
const char *portcullis_header_of(const portcullis_response *response, const char *name);

// Returns whether the host adds a secret to requests of this key. A plugin never sees it.
bool portcullis_has_secret(const char *key);

// Percent-encodes text for a URL: everything except letters, digits and -._~.
char *portcullis_encode(const char *text);
char *portcullis_encode_of(portcullis_view text);

#ifdef __cplusplus
}
#endif

#endif
