// The optional export `reviewer`. It is not in the bindings, so its result is laid out here.
#include "text.h"
#include "utf8.h"

// `variant verdict` in memory. The list belongs to `request`, which this library does not return. It is here because
// the host reads a verdict of this size.
typedef struct verdict {
    uint8_t tag;
    plugin_string_t text;
    plugin_list_u8_t patterns;
} verdict;

void *portcullis_review_by(portcullis_reviewer *reviewer, char *tool, size_t tool_length, char *arguments,
                           size_t length) {
    static verdict result;
    portcullis_bytes name = portcullis_take((uint8_t *)tool, tool_length);
    portcullis_bytes object = portcullis_take((uint8_t *)arguments, length);
    portcullis_verdict opinion = reviewer(name.data, object.data, object.length);
    result = (verdict){.tag = (uint8_t)opinion.kind};
    if (opinion.kind != PORTCULLIS_CLEAR) result.text = portcullis_say(portcullis_view_of(opinion.text));
    return &result;
}

bool portcullis_names_host(const char *key, const char *url, bool *names, portcullis_failure *failure) {
    return portcullis_names_host_of(key, portcullis_view_of(url), names, failure);
}

bool portcullis_names_host_of(const char *key, portcullis_view url, bool *names, portcullis_failure *failure) {
    plugin_string_t name = portcullis_say(portcullis_view_of(key)), address;
    if (!portcullis_mean(url, "the URL", &address, failure)) return false;
    portcullis_tool_dependencies_unavailable_t why;
    if (portcullis_tool_dependencies_names_host(&name, &address, names, &why)) return true;
    return portcullis_no_handle(failure, "HTTP client", key, why);
}
