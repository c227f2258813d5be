// What the errors of an exchange with a server are for a model: the kind that fits, and plain words.
#ifndef PORTCULLIS_HTTP_ERROR_H
#define PORTCULLIS_HTTP_ERROR_H

#include "plugin.h"
#include "portcullis/host.h"

// Why an exchange failed. `refusal` is what the host says of the last request that it refused, or NULL.
bool portcullis_exchange_failed(portcullis_failure *failure, const char *server,
                                const wasi_http_types_error_code_t *code, const char *refusal);

bool portcullis_header_refused(portcullis_failure *failure, const char *name, wasi_http_types_header_error_t error);

#endif
