// Translates the errors of an exchange with a server into failures with texts for a model.
#ifndef PORTCULLIS_HTTP_ERROR_H
#define PORTCULLIS_HTTP_ERROR_H

#include "plugin.h"
#include "portcullis/host.h"

// Fills in the failure of an exchange. `refusal` is the host's reason for its last refusal, or NULL.
bool portcullis_exchange_failed(portcullis_failure *failure, const char *server,
                                const wasi_http_types_error_code_t *code, const char *refusal);

bool portcullis_header_refused(portcullis_failure *failure, const char *name, wasi_http_types_header_error_t error);

#endif
