// Stores, and services of the application that embeds the host.
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "utf8.h"

// Prefix of the host's error for a store over its quota. The interface has no code for it.
static const char FULL[] = "the store is full";
// Prefix of the host's error if a tool that declares read but not write changes a store.
static const char READ_ONLY[] = "the store is read-only";

static bool refuse(portcullis_failure *failure, const char *key, wasi_keyvalue_store_error_t error) {
    switch (error.tag) {
        case WASI_KEYVALUE_STORE_ERROR_NO_SUCH_STORE:
            return portcullis_refuse(failure, PORTCULLIS_FAILED, "the manifest asks for no store `%s`", key);
        case WASI_KEYVALUE_STORE_ERROR_ACCESS_DENIED:
            return portcullis_refuse(failure, PORTCULLIS_DENIED, "the policy grants no store `%s` to this tool", key);
        default: {
            *failure = portcullis_words(PORTCULLIS_UNAVAILABLE, error.val.other);
            if (strncmp(failure->message, FULL, sizeof FULL - 1) == 0) failure->kind = PORTCULLIS_FAILED;
            if (strncmp(failure->message, READ_ONLY, sizeof READ_ONLY - 1) == 0) failure->kind = PORTCULLIS_DENIED;
            return false;
        }
    }
}

static wasi_keyvalue_store_borrow_bucket_t borrow(portcullis_store store) {
    return wasi_keyvalue_store_borrow_bucket((wasi_keyvalue_store_own_bucket_t){store.handle});
}

bool portcullis_open_store(const char *key, portcullis_store *store, portcullis_failure *failure) {
    plugin_string_t name = portcullis_say(portcullis_view_of(key));
    wasi_keyvalue_store_own_bucket_t bucket;
    wasi_keyvalue_store_error_t error;
    if (!wasi_keyvalue_store_open(&name, &bucket, &error)) return refuse(failure, key, error);
    *store = (portcullis_store){key, bucket.__handle};
    return true;
}

void portcullis_close_store(portcullis_store store) {
    wasi_keyvalue_store_bucket_drop_own((wasi_keyvalue_store_own_bucket_t){store.handle});
}

// The name of a key in error messages.
static const char KEY[] = "the key";

bool portcullis_store_get(portcullis_store store, const char *key, portcullis_bytes *value,
                          portcullis_failure *failure) {
    return portcullis_store_get_of(store, portcullis_view_of(key), value, failure);
}

bool portcullis_store_get_of(portcullis_store store, portcullis_view key, portcullis_bytes *value,
                             portcullis_failure *failure) {
    plugin_string_t name;
    if (!portcullis_mean(key, KEY, &name, failure)) return false;
    plugin_option_list_u8_t found;
    wasi_keyvalue_store_error_t error;
    if (!wasi_keyvalue_store_method_bucket_get(borrow(store), &name, &found, &error)) {
        return refuse(failure, store.key, error);
    }
    *value = found.is_some ? portcullis_take(found.val.ptr, found.val.len) : (portcullis_bytes){0};
    return true;
}

bool portcullis_store_set(portcullis_store store, const char *key, const void *data, size_t length,
                          portcullis_failure *failure) {
    return portcullis_store_set_of(store, portcullis_view_of(key), data, length, failure);
}

bool portcullis_store_set_of(portcullis_store store, portcullis_view key, const void *data, size_t length,
                             portcullis_failure *failure) {
    plugin_string_t name;
    if (!portcullis_mean(key, KEY, &name, failure)) return false;
    plugin_list_u8_t value = portcullis_lend_bytes(data, length);
    wasi_keyvalue_store_error_t error;
    if (wasi_keyvalue_store_method_bucket_set(borrow(store), &name, &value, &error)) return true;
    return refuse(failure, store.key, error);
}

bool portcullis_store_delete(portcullis_store store, const char *key, portcullis_failure *failure) {
    return portcullis_store_delete_of(store, portcullis_view_of(key), failure);
}

bool portcullis_store_delete_of(portcullis_store store, portcullis_view key, portcullis_failure *failure) {
    plugin_string_t name;
    if (!portcullis_mean(key, KEY, &name, failure)) return false;
    wasi_keyvalue_store_error_t error;
    if (wasi_keyvalue_store_method_bucket_delete(borrow(store), &name, &error)) return true;
    return refuse(failure, store.key, error);
}

bool portcullis_store_keys(portcullis_store store, portcullis_bytes **keys, size_t *count,
                           portcullis_failure *failure) {
    *keys = NULL;
    *count = 0;
    wasi_keyvalue_store_key_response_t page = {.cursor = {.is_some = false}};
    do {
        wasi_keyvalue_store_error_t error;
        uint64_t cursor = page.cursor.val;
        if (!wasi_keyvalue_store_method_bucket_list_keys(borrow(store), page.cursor.is_some ? &cursor : NULL, &page,
                                                         &error)) {
            return refuse(failure, store.key, error);
        }
        if (page.keys.len == 0) continue;
        *keys = realloc(*keys, (*count + page.keys.len) * sizeof **keys);
        if (!*keys) abort();
        for (size_t i = 0; i < page.keys.len; i++) {
            (*keys)[(*count)++] = portcullis_take(page.keys.ptr[i].ptr, page.keys.ptr[i].len);
        }
    } while (page.cursor.is_some);
    return true;
}

bool portcullis_call_service(const char *key, const char *method, const char *input, portcullis_bytes *output,
                             portcullis_failure *failure) {
    return portcullis_call_service_of(key, portcullis_view_of(method), portcullis_view_of(input), output, failure);
}

bool portcullis_call_service_of(const char *key, portcullis_view method, portcullis_view input,
                                portcullis_bytes *output, portcullis_failure *failure) {
    plugin_string_t name = portcullis_say(portcullis_view_of(key)), function, document;
    if (!portcullis_mean(method, "the method", &function, failure) ||
        !portcullis_mean(input, "the input", &document, failure)) {
        return false;
    }
    portcullis_tool_dependencies_own_service_t service;
    portcullis_tool_dependencies_unavailable_t why;
    if (!portcullis_tool_dependencies_open_service(&name, &service, &why)) {
        return portcullis_no_handle(failure, "service", key, why);
    }
    plugin_string_t result, words;
    bool answered = portcullis_tool_dependencies_method_service_call(
        portcullis_tool_dependencies_borrow_service(service), &function, &document, &result, &words);
    portcullis_tool_dependencies_service_drop_own(service);
    if (answered) {
        *output = portcullis_take(result.ptr, result.len);
        return true;
    }
    *failure = portcullis_words(PORTCULLIS_FAILED, words);
    return false;
}
