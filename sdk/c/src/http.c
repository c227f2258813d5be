// One exchange over the HTTP client of a key, in the types of wasi:http.
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "allocation.h"
#include "http_error.h"
#include "text.h"
#include "url.h"
#include "utf8.h"

// Number of bytes of a request's body to write at once: the minimum that wasi:io guarantees to accept.
enum { WRITE_BYTES = 4096 };
// Number of bytes of a response's body to read at once.
enum { READ_BYTES = 64 * 1024 };

enum { NANOSECONDS_PER_MILLISECOND = 1000000 };

// The state of one exchange.
typedef struct exchange {
    portcullis_tool_dependencies_own_client_t client;
    const char *server;
    uint64_t deadline_ns;  // 0: none
    portcullis_failure *failure;
} exchange;

// Returns the host's reason for its last refusal, or NULL.
static const char *refusal(const exchange *at) {
    plugin_string_t words;
    if (!portcullis_tool_dependencies_method_client_refusal(portcullis_tool_dependencies_borrow_client(at->client),
                                                            &words)) {
        return NULL;
    }
    return portcullis_take(words.ptr, words.len).data;
}

static bool fail(const exchange *at, const wasi_http_types_error_code_t *code) {
    return portcullis_exchange_failed(at->failure, at->server, code, refusal(at));
}

// Waits until something is ready, and drops the handle. Returns false if the deadline came first.
static bool wait_for(const exchange *at, wasi_io_poll_own_pollable_t pollable) {
    bool ready = true;
    if (at->deadline_ns == 0) {
        wasi_io_poll_method_pollable_block(wasi_io_poll_borrow_pollable(pollable));
    } else {
        wasi_io_poll_own_pollable_t timer = wasi_clocks_monotonic_clock_subscribe_instant(at->deadline_ns);
        wasi_io_poll_borrow_pollable_t both[] = {wasi_io_poll_borrow_pollable(pollable),
                                                 wasi_io_poll_borrow_pollable(timer)};
        wasi_io_poll_list_borrow_pollable_t list = {both, PORTCULLIS_COUNT(both)};
        plugin_list_u32_t which;
        wasi_io_poll_poll(&list, &which);
        ready = which.len > 0 && which.ptr[0] == 0;
        plugin_list_u32_free(&which);
        wasi_io_poll_pollable_drop_own(timer);
    }
    wasi_io_poll_pollable_drop_own(pollable);
    return ready || portcullis_refuse(at->failure, PORTCULLIS_UNAVAILABLE, "%s: it took too long to answer", at->server);
}

static wasi_http_types_method_t method_named(const char *name) {
    static const char *const NAMES[] = {
        [WASI_HTTP_TYPES_METHOD_GET] = "GET",         [WASI_HTTP_TYPES_METHOD_HEAD] = "HEAD",
        [WASI_HTTP_TYPES_METHOD_POST] = "POST",       [WASI_HTTP_TYPES_METHOD_PUT] = "PUT",
        [WASI_HTTP_TYPES_METHOD_DELETE] = "DELETE",   [WASI_HTTP_TYPES_METHOD_CONNECT] = "CONNECT",
        [WASI_HTTP_TYPES_METHOD_OPTIONS] = "OPTIONS", [WASI_HTTP_TYPES_METHOD_TRACE] = "TRACE",
        [WASI_HTTP_TYPES_METHOD_PATCH] = "PATCH",
    };
    for (size_t i = 0; i < PORTCULLIS_COUNT(NAMES); i++) {
        if (strcmp(NAMES[i], name) == 0) return (wasi_http_types_method_t){.tag = (uint8_t)i};
    }
    return (wasi_http_types_method_t){WASI_HTTP_TYPES_METHOD_OTHER, {portcullis_say(portcullis_view_of(name))}};
}

// Returns whether servers expect a body with this method, so that an empty one needs a length too.
static bool expects_body(const portcullis_request *request) {
    static const char *const METHODS[] = {"POST", "PUT", "PATCH"};
    bool is = false;
    for (size_t i = 0; i < PORTCULLIS_COUNT(METHODS); i++) {
        is = is || (request->method && strcmp(request->method, METHODS[i]) == 0);
    }
    return is;
}

static bool add_header(const exchange *at, wasi_http_types_own_fields_t fields, const char *name, const char *value) {
    plugin_string_t key = portcullis_say(portcullis_view_of(name));
    wasi_http_types_field_value_t content = {(uint8_t *)value, strlen(value)};
    wasi_http_types_header_error_t error;
    if (wasi_http_types_method_fields_append(wasi_http_types_borrow_fields(fields), &key, &content, &error)) {
        return true;
    }
    return portcullis_header_refused(at->failure, name, error);
}

static bool add_headers(const exchange *at, wasi_http_types_own_fields_t fields, const portcullis_request *request) {
    bool is_told = false;
    for (size_t i = 0; i < request->header_count; i++) {
        const portcullis_header *header = &request->headers[i];
        if (!add_header(at, fields, header->name, header->value)) return false;
        is_told = is_told || strcasecmp(header->name, "content-length") == 0;
    }
    if (is_told || (request->body_length == 0 && !expects_body(request))) return true;
    return add_header(at, fields, "content-length", portcullis_format("%zu", request->body_length));
}

// Converts the head of a request for the host.
static bool make_request(const exchange *at, const portcullis_request *request, const portcullis_url *url,
                         wasi_http_types_own_outgoing_request_t *outgoing) {
    wasi_http_types_own_fields_t fields = wasi_http_types_constructor_fields();
    if (!add_headers(at, fields, request)) {
        wasi_http_types_fields_drop_own(fields);
        return false;
    }
    *outgoing = wasi_http_types_constructor_outgoing_request(fields);
    wasi_http_types_borrow_outgoing_request_t head = wasi_http_types_borrow_outgoing_request(*outgoing);
    wasi_http_types_method_t method = method_named(request->method ? request->method : "GET");
    wasi_http_types_scheme_t scheme = {.tag = url->is_https ? WASI_HTTP_TYPES_SCHEME_HTTPS
                                                            : WASI_HTTP_TYPES_SCHEME_HTTP};
    plugin_string_t authority = portcullis_say(portcullis_view_of(url->authority));
    plugin_string_t path = portcullis_say(portcullis_view_of(url->path));
    if (wasi_http_types_method_outgoing_request_set_method(head, &method) &&
        wasi_http_types_method_outgoing_request_set_scheme(head, &scheme) &&
        wasi_http_types_method_outgoing_request_set_authority(head, &authority) &&
        wasi_http_types_method_outgoing_request_set_path_with_query(head, &path)) {
        return true;
    }
    wasi_http_types_outgoing_request_drop_own(*outgoing);
    return portcullis_refuse(at->failure, PORTCULLIS_INVALID_ARGUMENTS, "`%s` cannot be sent", request->url);
}

// Sends the body. Ignores errors: a server may answer before it has read all of it, and the response reports the
// result. Returns false if the body was not finished.
static bool send_body(wasi_http_types_own_outgoing_body_t body, const uint8_t *data, size_t length) {
    wasi_io_streams_own_output_stream_t stream;
    bool written = wasi_http_types_method_outgoing_body_write(wasi_http_types_borrow_outgoing_body(body), &stream);
    if (!written) return false;
    for (size_t at = 0; written && at < length; at += WRITE_BYTES) {
        plugin_list_u8_t piece = portcullis_lend_bytes(data + at, length - at < WRITE_BYTES ? length - at : WRITE_BYTES);
        wasi_io_streams_stream_error_t error;
        written = wasi_io_streams_method_output_stream_blocking_write_and_flush(
            wasi_io_streams_borrow_output_stream(stream), &piece, &error);
    }
    wasi_io_streams_output_stream_drop_own(stream);
    wasi_http_types_error_code_t error;
    if (written) wasi_http_types_static_outgoing_body_finish(body, NULL, &error);
    return written;
}

static bool receive(const exchange *at, wasi_http_types_own_future_incoming_response_t future,
                    wasi_http_types_own_incoming_response_t *response) {
    wasi_http_types_borrow_future_incoming_response_t coming = wasi_http_types_borrow_future_incoming_response(future);
    if (!wait_for(at, wasi_http_types_method_future_incoming_response_subscribe(coming))) return false;
    wasi_http_types_result_result_own_incoming_response_error_code_void_t result;
    if (!wasi_http_types_method_future_incoming_response_get(coming, &result) || result.is_err) {
        return portcullis_refuse(at->failure, PORTCULLIS_FAILED, "%s: there is no response", at->server);
    }
    if (result.val.ok.is_err) return fail(at, &result.val.ok.val.err);
    *response = result.val.ok.val.ok;
    return true;
}

static bool send(const exchange *at, const portcullis_request *request, const portcullis_url *url,
                 wasi_http_types_own_incoming_response_t *response) {
    wasi_http_types_own_outgoing_request_t outgoing;
    if (!make_request(at, request, url, &outgoing)) return false;
    // Taking the body of a request makes it chunked, even if it is empty. So leave it if there is nothing to send.
    wasi_http_types_own_outgoing_body_t body;
    bool has_body = request->body_length > 0;
    if (has_body &&
        !wasi_http_types_method_outgoing_request_body(wasi_http_types_borrow_outgoing_request(outgoing), &body)) {
        wasi_http_types_outgoing_request_drop_own(outgoing);
        return portcullis_refuse(at->failure, PORTCULLIS_FAILED, "a request has one body");
    }
    wasi_http_types_own_future_incoming_response_t future;
    wasi_http_types_error_code_t code;
    if (!portcullis_tool_dependencies_method_client_send(portcullis_tool_dependencies_borrow_client(at->client),
                                                         outgoing, NULL, &future, &code)) {
        if (has_body) wasi_http_types_outgoing_body_drop_own(body);
        return fail(at, &code);
    }
    bool sent = !has_body || send_body(body, request->body, request->body_length);
    bool answered = receive(at, future, response);
    wasi_http_types_future_incoming_response_drop_own(future);
    if (!sent) wasi_http_types_outgoing_body_drop_own(body);
    return answered;
}

static void read_head(wasi_http_types_borrow_incoming_response_t incoming, portcullis_response *response) {
    response->status = wasi_http_types_method_incoming_response_status(incoming);
    wasi_http_types_own_headers_t headers = wasi_http_types_method_incoming_response_headers(incoming);
    wasi_http_types_list_tuple2_field_name_field_value_t entries;
    wasi_http_types_method_fields_entries(wasi_http_types_borrow_fields(headers), &entries);
    wasi_http_types_fields_drop_own(headers);
    response->header_count = entries.len;
    response->headers = portcullis_allocate(entries.len * sizeof *response->headers);
    for (size_t i = 0; i < entries.len; i++) {
        response->headers[i] = (portcullis_header){
            portcullis_take(entries.ptr[i].f0.ptr, entries.ptr[i].f0.len).data,
            portcullis_take(entries.ptr[i].f1.ptr, entries.ptr[i].f1.len).data,
        };
    }
}

// Fills in why a body ended early. If the host aborted it, there is no code, only a refusal text.
static bool broken_off(const exchange *at, wasi_io_streams_own_error_t error) {
    wasi_http_types_error_code_t code = {.tag = WASI_HTTP_TYPES_ERROR_CODE_HTTP_RESPONSE_INCOMPLETE};
    if (wasi_http_types_http_error_code(wasi_io_error_borrow_error(error), &code)) return fail(at, &code);
    const char *words = refusal(at);
    if (words) return portcullis_refuse(at->failure, PORTCULLIS_FAILED, "%s: %s", at->server, words);
    return fail(at, &code);
}

static bool append(const exchange *at, portcullis_bytes *body, plugin_list_u8_t chunk, size_t bytes_max) {
    if (chunk.len > bytes_max - body->length) {
        return portcullis_refuse(at->failure, PORTCULLIS_FAILED, "the response of %s is larger than %zu bytes",
                                 at->server, bytes_max);
    }
    body->data = realloc(body->data, body->length + chunk.len + 1);
    if (!body->data) abort();
    memcpy(body->data + body->length, chunk.ptr, chunk.len);
    body->length += chunk.len;
    body->data[body->length] = '\0';
    plugin_list_u8_free(&chunk);
    return true;
}

static bool read_stream(const exchange *at, wasi_io_streams_borrow_input_stream_t stream, size_t bytes_max,
                        portcullis_bytes *body) {
    *body = portcullis_take(NULL, 0);
    for (;;) {
        plugin_list_u8_t chunk;
        wasi_io_streams_stream_error_t error;
        if (!wasi_io_streams_method_input_stream_read(stream, READ_BYTES, &chunk, &error)) {
            return error.tag == WASI_IO_STREAMS_STREAM_ERROR_CLOSED || broken_off(at, error.val.last_operation_failed);
        }
        if (chunk.len == 0) {
            if (!wait_for(at, wasi_io_streams_method_input_stream_subscribe(stream))) return false;
        } else if (!append(at, body, chunk, bytes_max)) {
            return false;
        }
    }
}

static bool read_body(const exchange *at, wasi_http_types_own_incoming_response_t incoming, size_t bytes_max,
                      portcullis_bytes *content) {
    wasi_http_types_own_incoming_body_t body;
    wasi_io_streams_own_input_stream_t stream;
    if (!wasi_http_types_method_incoming_response_consume(wasi_http_types_borrow_incoming_response(incoming), &body) ||
        !wasi_http_types_method_incoming_body_stream(wasi_http_types_borrow_incoming_body(body), &stream)) {
        return portcullis_refuse(at->failure, PORTCULLIS_FAILED, "a response has one body");
    }
    bool whole = read_stream(at, wasi_io_streams_borrow_input_stream(stream), bytes_max, content);
    // The host requires children to be dropped before their parents.
    wasi_io_streams_input_stream_drop_own(stream);
    wasi_http_types_incoming_body_drop_own(body);
    wasi_http_types_incoming_response_drop_own(incoming);
    return whole;
}

static bool open_client(const char *key, portcullis_tool_dependencies_own_client_t *client,
                        portcullis_failure *failure) {
    plugin_string_t name = portcullis_say(portcullis_view_of(key));
    portcullis_tool_dependencies_unavailable_t why;
    if (portcullis_tool_dependencies_open_client(&name, client, &why)) return true;
    return portcullis_no_handle(failure, "HTTP client", key, why);
}

bool portcullis_fetch(const char *key, const portcullis_request *request, portcullis_response *response,
                      portcullis_failure *failure) {
    portcullis_url url;
    exchange at = {.failure = failure};
    if (!portcullis_parse_url(request->url, &url, failure) || !open_client(key, &at.client, failure)) return false;
    at.server = url.authority;
    if (request->timeout_ms > 0) {
        at.deadline_ns = wasi_clocks_monotonic_clock_now() + (uint64_t)request->timeout_ms * NANOSECONDS_PER_MILLISECOND;
    }
    wasi_http_types_own_incoming_response_t incoming;
    bool answered = send(&at, request, &url, &incoming);
    if (answered) {
        read_head(wasi_http_types_borrow_incoming_response(incoming), response);
        size_t bytes_max = request->body_bytes_max > 0 ? request->body_bytes_max : PORTCULLIS_BODY_BYTES_MAX;
        answered = read_body(&at, incoming, bytes_max, &response->body);
    }
    portcullis_tool_dependencies_client_drop_own(at.client);
    return answered;
}

const char *portcullis_header_of(const portcullis_response *response, const char *name) {
    for (size_t i = 0; i < response->header_count; i++) {
        if (strcasecmp(response->headers[i].name, name) == 0) return response->headers[i].value;
    }
    return NULL;
}

bool portcullis_has_secret(const char *key) {
    portcullis_tool_dependencies_own_client_t client;
    portcullis_failure failure;
    if (!open_client(key, &client, &failure)) return false;
    bool has = portcullis_tool_dependencies_method_client_has_secret(portcullis_tool_dependencies_borrow_client(client));
    portcullis_tool_dependencies_client_drop_own(client);
    return has;
}
