#include "http_error.h"

#include "text.h"

#define CODE(name) WASI_HTTP_TYPES_ERROR_CODE_##name

// The kind and the text of an error, by its code. A code that is not listed gives a general failure.
typedef struct meaning {
    portcullis_failure_kind kind;
    const char *words;
} meaning;

static const meaning MEANINGS[] = {
    [CODE(DNS_TIMEOUT)] = {PORTCULLIS_UNAVAILABLE, "looking up the name took too long"},
    [CODE(DNS_ERROR)] = {PORTCULLIS_UNAVAILABLE, "the name has no address"},
    [CODE(DESTINATION_NOT_FOUND)] = {PORTCULLIS_UNAVAILABLE, "the name has no address"},
    [CODE(DESTINATION_UNAVAILABLE)] = {PORTCULLIS_UNAVAILABLE, "it cannot be reached"},
    [CODE(DESTINATION_IP_PROHIBITED)] = {PORTCULLIS_DENIED, "the policy does not cover it"},
    [CODE(DESTINATION_IP_UNROUTABLE)] = {PORTCULLIS_UNAVAILABLE, "it cannot be reached"},
    [CODE(CONNECTION_REFUSED)] = {PORTCULLIS_UNAVAILABLE, "it refused the connection"},
    [CODE(CONNECTION_TERMINATED)] = {PORTCULLIS_UNAVAILABLE, "the connection broke"},
    [CODE(CONNECTION_TIMEOUT)] = {PORTCULLIS_UNAVAILABLE, "connecting took too long"},
    [CODE(CONNECTION_READ_TIMEOUT)] = {PORTCULLIS_UNAVAILABLE, "it took too long to answer"},
    [CODE(CONNECTION_WRITE_TIMEOUT)] = {PORTCULLIS_UNAVAILABLE, "it took too long to accept the request"},
    [CODE(CONNECTION_LIMIT_REACHED)] = {PORTCULLIS_UNAVAILABLE, "there are too many connections already"},
    [CODE(TLS_PROTOCOL_ERROR)] = {PORTCULLIS_UNAVAILABLE, "the TLS connection failed"},
    [CODE(TLS_CERTIFICATE_ERROR)] = {PORTCULLIS_FAILED, "its certificate is not trusted"},
    [CODE(TLS_ALERT_RECEIVED)] = {PORTCULLIS_UNAVAILABLE, "the TLS connection failed"},
    [CODE(HTTP_REQUEST_DENIED)] = {PORTCULLIS_DENIED, "the policy does not cover it"},
    [CODE(HTTP_REQUEST_BODY_SIZE)] = {PORTCULLIS_DENIED, "its body is larger than the policy allows"},
    [CODE(HTTP_REQUEST_METHOD_INVALID)] = {PORTCULLIS_DENIED, "its method is not allowed"},
    [CODE(HTTP_REQUEST_URI_INVALID)] = {PORTCULLIS_DENIED, "its URL is not allowed"},
    [CODE(HTTP_REQUEST_URI_TOO_LONG)] = {PORTCULLIS_FAILED, "the URL of the request is too long"},
    [CODE(HTTP_REQUEST_HEADER_SECTION_SIZE)] = {PORTCULLIS_FAILED, "the headers of the request are too large"},
    [CODE(HTTP_REQUEST_HEADER_SIZE)] = {PORTCULLIS_FAILED, "a header of the request is too large"},
    [CODE(HTTP_RESPONSE_INCOMPLETE)] = {PORTCULLIS_UNAVAILABLE, "its response ended before it was complete"},
    [CODE(HTTP_RESPONSE_HEADER_SECTION_SIZE)] = {PORTCULLIS_FAILED, "the head of its response is too large"},
    [CODE(HTTP_RESPONSE_HEADER_SIZE)] = {PORTCULLIS_FAILED, "the head of its response is too large"},
    [CODE(HTTP_RESPONSE_BODY_SIZE)] = {PORTCULLIS_FAILED, "its response is larger than the policy allows"},
    [CODE(HTTP_RESPONSE_TIMEOUT)] = {PORTCULLIS_UNAVAILABLE, "it took too long to answer"},
    [CODE(HTTP_PROTOCOL_ERROR)] = {PORTCULLIS_FAILED, "it violated the HTTP protocol"},
    [CODE(LOOP_DETECTED)] = {PORTCULLIS_FAILED, "the request was forwarded in a loop"},
    [CODE(CONFIGURATION_ERROR)] = {PORTCULLIS_FAILED, "the client is misconfigured"},
};

bool portcullis_exchange_failed(portcullis_failure *failure, const char *server,
                                const wasi_http_types_error_code_t *code, const char *refusal) {
    meaning means = code->tag < PORTCULLIS_COUNT(MEANINGS) ? MEANINGS[code->tag] : (meaning){0};
    if (!means.words) means = (meaning){PORTCULLIS_UNAVAILABLE, "the request failed"};
    if (code->tag == CODE(INTERNAL_ERROR) && code->val.internal_error.is_some) {
        plugin_string_t words = code->val.internal_error.val;
        means.words = portcullis_take(words.ptr, words.len).data;
    }
    if (means.kind != PORTCULLIS_DENIED) {
        return portcullis_refuse(failure, means.kind, "%s: %s", server, means.words);
    }
    if (refusal) return portcullis_refuse(failure, PORTCULLIS_DENIED, "%s", refusal);
    return portcullis_refuse(failure, PORTCULLIS_DENIED, "the request to %s is refused: %s", server, means.words);
}

bool portcullis_header_refused(portcullis_failure *failure, const char *name, wasi_http_types_header_error_t error) {
    switch (error.tag) {
        case WASI_HTTP_TYPES_HEADER_ERROR_INVALID_SYNTAX:
            return portcullis_refuse(failure, PORTCULLIS_INVALID_ARGUMENTS,
                                     "the header `%s` has characters that are not allowed in headers", name);
        case WASI_HTTP_TYPES_HEADER_ERROR_FORBIDDEN:
            return portcullis_refuse(failure, PORTCULLIS_DENIED,
                                     "the header `%s` is set by the host; leave it out", name);
        default:
            return portcullis_refuse(failure, PORTCULLIS_FAILED, "the header `%s` can no longer be set", name);
    }
}
