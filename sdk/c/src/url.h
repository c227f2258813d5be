// Normalizes URLs. Makes no decisions: the host parses each URL again.
#ifndef PORTCULLIS_URL_H
#define PORTCULLIS_URL_H

#include "portcullis/host.h"

typedef struct portcullis_url {
    bool is_https;
    char *authority;  // the host in lower case, and the port if it is not the default of the scheme
    char *path;       // with the query; begins with `/` and has no dot segments
} portcullis_url;

bool portcullis_parse_url(const char *text, portcullis_url *url, portcullis_failure *failure);

#endif
