// What a plugin says of itself, what its tools answer, and what the host gives them.
//
// An instance is made for each call and thrown away after it. So nothing that these functions hand out has to be
// freed; a tool that works through much data may give it back with free(). Where memory ends, the call is aborted.
//
// Text is UTF-8 and ends with NUL. Text that comes from the host has its length beside it, since it may hold NUL too;
// for text of a plugin that may, there are functions and members that take a length.
//
// What a tool only says, such as a line of the log, a title or the message of a failure, has U+FFFD in place of what is
// not UTF-8. An answer, a key or a resource is never changed: where it is not UTF-8, that is a failure.
#ifndef PORTCULLIS_HOST_H
#define PORTCULLIS_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PORTCULLIS_PRINTF(text, first) __attribute__((__format__(__printf__, text, first)))

// JSON that is written in the source as it is: PORTCULLIS_JSON({"type": "object"}).
#define PORTCULLIS_JSON(...) #__VA_ARGS__

struct portcullis_answer;
struct yyjson_val;

// The number of elements of an array.
#define PORTCULLIS_COUNT(array) (sizeof(array) / sizeof(*(array)))

// Bytes from the host. A NUL follows them that is not counted.
typedef struct portcullis_bytes {
    char *data;  // NULL: there are none, which is not the same as an empty text
    size_t length;
} portcullis_bytes;

// Text that may hold NUL. No NUL has to follow it.
typedef struct portcullis_view {
    const char *data;  // NULL: there is none
    size_t length;
} portcullis_view;

// Text up to its NUL.
portcullis_view portcullis_view_of(const char *text);

// ---- What a plugin says of itself ----

// Rights that a tool may use; joined by `|`.
enum portcullis_permission {
    PORTCULLIS_READ = 1,
    PORTCULLIS_WRITE = 2,
    PORTCULLIS_EXECUTE = 4,
    PORTCULLIS_NETWORK = 8,
};

// What its author claims of a tool; joined by `|`.
enum portcullis_hint {
    PORTCULLIS_READ_ONLY = 1,    // changes nothing outside the sandbox
    PORTCULLIS_DESTRUCTIVE = 2,  // may destroy or overwrite something
    PORTCULLIS_IDEMPOTENT = 4,   // the same call twice has the effect of one
    PORTCULLIS_OPEN_WORLD = 8,   // reaches things outside the host's control
    PORTCULLIS_SEQUENTIAL = 16,  // must not run beside another call of the session
};

typedef enum portcullis_dependency_kind {
    PORTCULLIS_DIRECTORY,
    PORTCULLIS_HTTP,
    PORTCULLIS_STORE,
    PORTCULLIS_SERVICE,
} portcullis_dependency_kind;

// A handle that the plugin asks for. Asking grants nothing: the policy binds the key, or the call goes without.
typedef struct portcullis_dependency {
    const char *key;
    portcullis_dependency_kind kind;
    bool optional;       // false: calls are denied while the policy binds nothing to the key
    const char *reason;  // for the person who writes the policy
} portcullis_dependency;

// A tool. What is not set is absent.
typedef struct portcullis_tool {
    const char *name;
    const char *title;        // a few words for people
    const char *description;  // for the model
    const char *schema;       // JSON Schema of the arguments; NULL: the tool takes none
    const char *output_schema;
    unsigned required;  // permissions without which it cannot work
    unsigned optional;  // permissions that it can use when it has them
    unsigned hints;
    // Gets one JSON object that has passed the schema, as yyjson reads it.
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

// ---- What a tool answers ----

// Why a tool could not answer.
typedef enum portcullis_failure_kind {
    PORTCULLIS_INVALID_ARGUMENTS,  // they match the schema and are wrong all the same
    PORTCULLIS_DENIED,             // a right was missing
    PORTCULLIS_UNAVAILABLE,        // something outside did not work; trying again later may help
    PORTCULLIS_CANCELLED,          // the call was cancelled; this one has no message
    PORTCULLIS_FAILED,
} portcullis_failure_kind;

// The message is for the model: say what would help.
typedef struct portcullis_failure {
    portcullis_failure_kind kind;
    const char *message;
    size_t message_length;  // 0: the message ends with NUL
} portcullis_failure;

typedef enum portcullis_part_kind { PORTCULLIS_PART_TEXT, PORTCULLIS_PART_IMAGE, PORTCULLIS_PART_FILE } portcullis_part_kind;

// A piece of an answer.
typedef struct portcullis_part {
    portcullis_part_kind kind;
    const char *media_type;  // such as "image/png"; NULL for a text
    const void *data;
    size_t length;
} portcullis_part;

typedef enum portcullis_answer_kind {
    PORTCULLIS_ANSWER_TEXT,
    PORTCULLIS_ANSWER_JSON,
    PORTCULLIS_ANSWER_PARTS,
    PORTCULLIS_ANSWER_FAILURE,
} portcullis_answer_kind;

// What a tool returns. The functions below make one; `title` and `metadata` may be set afterwards.
typedef struct portcullis_answer {
    portcullis_answer_kind kind;
    const char *title;       // a few words for people, or NULL
    size_t title_length;     // 0: the title ends with NUL
    const char *metadata;    // one JSON object for programs, or NULL
    size_t metadata_length;  // 0: the metadata ends with NUL
    const char *text;        // of TEXT and JSON
    size_t text_length;
    const portcullis_part *parts;  // of PARTS
    size_t part_count;
    portcullis_failure failure;  // of FAILURE
} portcullis_answer;

// The text is not copied: it has to live as long as the call.
portcullis_answer portcullis_text(const char *text);
portcullis_answer portcullis_text_of(const char *data, size_t length);
portcullis_answer portcullis_textf(const char *format, ...) PORTCULLIS_PRINTF(1, 2);
// One JSON document as text. portcullis_json() in portcullis.h takes a value.
portcullis_answer portcullis_json_of(const char *data, size_t length);
// The parts are not copied.
portcullis_answer portcullis_parts(const portcullis_part *parts, size_t count);
portcullis_answer portcullis_fail(portcullis_failure_kind kind, const char *format, ...) PORTCULLIS_PRINTF(2, 3);
portcullis_answer portcullis_fail_of(portcullis_failure_kind kind, portcullis_view message);
// The answer for a failure that a function of this library gave.
portcullis_answer portcullis_fail_with(portcullis_failure failure);

// Text as printf makes it.
char *portcullis_format(const char *format, ...) PORTCULLIS_PRINTF(1, 2);

// ---- The call ----

// The call that is running. `message` and `agent` have no data where the caller named none.
typedef struct portcullis_call {
    portcullis_bytes id, session, message, agent;
} portcullis_call;

portcullis_call portcullis_current_call(void);

// Reports how far the call has come. NULL, and a fraction below 0, leave what was said before.
// `metadata` is one JSON object.
void portcullis_progress(const char *title, float fraction, const char *metadata);
void portcullis_progress_of(portcullis_view title, float fraction, portcullis_view metadata);

// Whether the caller no longer wants the answer. The call is stopped a short while after this turns true.
bool portcullis_is_cancelled(void);

// Asks the policy or a person whether something may be done. `permission` is the name of one of the tool's
// permissions, such as "write". False: it may not, and the failure says why.
bool portcullis_ask(const char *permission, const char *resource, const char *reason, portcullis_failure *failure);
bool portcullis_ask_of(portcullis_view permission, portcullis_view resource, portcullis_view reason,
                       portcullis_failure *failure);

typedef enum portcullis_level {
    PORTCULLIS_TRACE,
    PORTCULLIS_DEBUG,
    PORTCULLIS_INFO,
    PORTCULLIS_WARN,
    PORTCULLIS_ERROR,
    PORTCULLIS_CRITICAL,
} portcullis_level;

// Writes a line into the record of the call.
void portcullis_log(portcullis_level level, const char *format, ...) PORTCULLIS_PRINTF(2, 3);
void portcullis_log_of(portcullis_level level, portcullis_view text);

// What the policy sets under `config`; without data where it sets nothing.
portcullis_bytes portcullis_setting(const char *key);
portcullis_bytes portcullis_setting_of(portcullis_view key);

// Writes the next piece of the call's text answer while the tool is still at work: for an answer that is large. The
// tool then returns text with what follows, which may be empty.
bool portcullis_write(const void *data, size_t length, portcullis_failure *failure);

// ---- Reviews ----

// A plugin's own opinion of a call, before it runs. It can only tighten what the policy decided.
typedef enum portcullis_verdict_kind { PORTCULLIS_CLEAR, PORTCULLIS_ASK, PORTCULLIS_REFUSE } portcullis_verdict_kind;

typedef struct portcullis_verdict {
    portcullis_verdict_kind kind;
    const char *text;  // of ASK: at what a person should look; of REFUSE: why
} portcullis_verdict;

// A review has no handle, little time and little memory. `arguments` is one JSON object.
typedef portcullis_verdict portcullis_reviewer(const char *tool, const char *arguments, size_t length);

// Makes a function the plugin's reviewer. Stands once, outside of functions.
#define PORTCULLIS_REVIEWER(function)                                                                     \
    __attribute__((export_name("portcullis:tool/reviewer@0.1.0#review"))) void *portcullis_export_review( \
        char *tool, size_t tool_length, char *arguments, size_t arguments_length);                        \
    void *portcullis_export_review(char *tool, size_t tool_length, char *arguments, size_t length) {      \
        return portcullis_review_by(function, tool, tool_length, arguments, length);                      \
    }

void *portcullis_review_by(portcullis_reviewer *reviewer, char *tool, size_t tool_length, char *arguments, size_t length);

// Whether the policy names the host of a URL in what it binds to an HTTP key. Answers in a review as well.
bool portcullis_names_host(const char *key, const char *url, bool *names, portcullis_failure *failure);
bool portcullis_names_host_of(const char *key, portcullis_view url, bool *names, portcullis_failure *failure);

// ---- Handles: false means there is no result, and the failure says why ----

// The directory of a key is at "/KEY", where fopen, opendir and the others find it.

typedef struct portcullis_store {
    const char *key;
    int32_t handle;
} portcullis_store;

bool portcullis_open_store(const char *key, portcullis_store *store, portcullis_failure *failure);
// The end of the call closes it too.
void portcullis_close_store(portcullis_store store);
// A key that is not there has no data.
bool portcullis_store_get(portcullis_store store, const char *key, portcullis_bytes *value, portcullis_failure *failure);
bool portcullis_store_get_of(portcullis_store store, portcullis_view key, portcullis_bytes *value,
                             portcullis_failure *failure);
bool portcullis_store_set(portcullis_store store, const char *key, const void *data, size_t length,
                          portcullis_failure *failure);
bool portcullis_store_set_of(portcullis_store store, portcullis_view key, const void *data, size_t length,
                             portcullis_failure *failure);
bool portcullis_store_delete(portcullis_store store, const char *key, portcullis_failure *failure);
bool portcullis_store_delete_of(portcullis_store store, portcullis_view key, portcullis_failure *failure);
// All keys, in no particular order.
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

// How much of a response is read where the request does not say it: room for what a model can use, and far below the
// memory that a guest may have.
#define PORTCULLIS_BODY_BYTES_MAX ((size_t)8 * 1024 * 1024)

typedef struct portcullis_request {
    const char *method;  // NULL: GET
    const char *url;
    const portcullis_header *headers;
    size_t header_count;
    const void *body;
    size_t body_length;
    uint32_t timeout_ms;    // for the whole exchange; 0: what the policy says
    size_t body_bytes_max;  // of the response; 0: PORTCULLIS_BODY_BYTES_MAX
} portcullis_request;

typedef struct portcullis_response {
    uint16_t status;
    portcullis_header *headers;
    size_t header_count;
    portcullis_bytes body;
} portcullis_response;

// Sends a request through the HTTP client of a key. Every answer of a server is a response, whatever its status. A
// redirect is a response too: a request to where it leads is decided anew. DENIED: the policy does not cover the
// request, and nothing was sent.
bool portcullis_fetch(const char *key, const portcullis_request *request, portcullis_response *response,
                      portcullis_failure *failure);

// The first header of a name, whose case is no matter; NULL where there is none.
const char *portcullis_header_of(const portcullis_response *response, const char *name);

// Whether the host adds a secret to requests of this key. A plugin never sees it.
bool portcullis_has_secret(const char *key);

// Text for a place in a URL: what is not a letter, a digit or one of -._~ is percent-encoded.
char *portcullis_encode(const char *text);
char *portcullis_encode_of(portcullis_view text);

#ifdef __cplusplus
}
#endif

#endif
