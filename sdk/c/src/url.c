#include "url.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "allocation.h"
#include "text.h"

// The visible ASCII characters to encode: the percent-encode sets of the WHATWG URL standard.
static const char ENCODED_IN_PATHS[] = "\"<>`{}";
static const char ENCODED_IN_QUERIES[] = "\"<>'";

enum { PORT_MAX = 65535, PORT_DIGITS_MAX = 5 };

static char *encode_byte(char *out, unsigned char byte) {
    static const char DIGITS[] = "0123456789ABCDEF";
    *out++ = '%';
    *out++ = DIGITS[byte >> 4];
    *out++ = DIGITS[byte & 15];
    return out;
}

// Appends the text to `out`, which has room for three times its length.
static char *encode(char *out, const char *text, size_t length, const char *also) {
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (byte < 0x80 && isgraph(byte) && !strchr(also, byte)) {
            *out++ = (char)byte;
        } else {
            out = encode_byte(out, byte);
        }
    }
    *out = '\0';
    return out;
}

char *portcullis_encode(const char *text) {
    return portcullis_encode_of(portcullis_view_of(text));
}

char *portcullis_encode_of(portcullis_view text) {
    static const char PLAIN[] = "-._~";
    char *encoded = portcullis_allocate(3 * text.length + 1), *out = encoded;
    for (size_t i = 0; i < text.length; i++) {
        unsigned char byte = (unsigned char)text.data[i];
        // strchr also finds the final NUL, which is not one of the characters.
        if (byte < 0x80 && (isalnum(byte) || memchr(PLAIN, byte, sizeof PLAIN - 1))) {
            *out++ = (char)byte;
        } else {
            out = encode_byte(out, byte);
        }
    }
    *out = '\0';
    return encoded;
}

// Returns the number of dots of a segment `.` or `..`, encoded or not; 0 for any other segment.
static int dots(const char *segment, size_t length) {
    int count = 0;
    while (length > 0 && count < 3) {
        size_t size = *segment == '.' ? 1 : length >= 3 && strncasecmp(segment, "%2e", 3) == 0 ? 3 : 0;
        if (size == 0) return 0;
        segment += size;
        length -= size;
        count++;
    }
    return count < 3 ? count : 0;
}

// Removes `.` and `..` from a path, in place. The buffer has room for one byte more than the path.
static char *remove_dots(char *path) {
    char *copy = portcullis_format("%s", path), *segment = copy, *out = path;
    if (*segment == '/') segment++;
    for (bool last = false; !last;) {
        size_t length = strcspn(segment, "/");
        last = segment[length] == '\0';
        int count = dots(segment, length);
        if (count == 2) {
            while (out > path && *--out != '/') continue;
        }
        if (count == 0 || last) *out++ = '/';
        if (count == 0) out = (char *)memcpy(out, segment, length) + length;
        segment += length + 1;
    }
    *out = '\0';
    free(copy);
    return out;
}

// Returns what is wrong with an authority, or NULL. On success sets `url->authority`.
static const char *read_authority(const char *text, size_t length, portcullis_url *url) {
    if (memchr(text, '@', length)) return "contains a user or password; leave it out";
    char *host = portcullis_allocate(length + 1);
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (byte >= 0x80) return "has a host that is not ASCII; write the form that begins with xn--";
        if (!isalnum(byte) && !strchr("-._[]:", byte)) return "has a host with invalid characters";
        host[i] = (char)tolower(byte);
    }
    host[length] = '\0';
    char *bracket = *host == '[' ? strchr(host, ']') : NULL;
    char *port = strchr(bracket ? bracket : host, ':');
    if (port) *port++ = '\0';
    size_t end = strlen(host);
    if (end > 0 && host[end - 1] == '.') host[--end] = '\0';
    if (end == 0) return "has no host";
    url->authority = host;
    if (!port || !*port) return NULL;
    size_t digits = strspn(port, "0123456789");
    if (port[digits] != '\0') return "has a port that is not a number";
    long number = digits <= PORT_DIGITS_MAX ? atol(port) : PORT_MAX + 1;
    if (number > PORT_MAX) return "has a port over 65535";
    if (number != (url->is_https ? 443 : 80)) url->authority = portcullis_format("%s:%ld", host, number);
    return NULL;
}

static const char *read_url(const char *text, size_t length, portcullis_url *url) {
    for (size_t i = 0; i < length; i++) {
        if (iscntrl((unsigned char)text[i]) || text[i] == '\\') return "contains a control character or a backslash";
    }
    const char *rest = strstr(text, "://");
    if (!rest) return "is not a URL; begin it with https://";
    url->is_https = rest - text == 5 && strncasecmp(text, "https", 5) == 0;
    if (!url->is_https && !(rest - text == 4 && strncasecmp(text, "http", 4) == 0)) {
        return "is neither http nor https";
    }
    rest += 3;
    length -= (size_t)(rest - text);
    const char *fragment = memchr(rest, '#', length);
    if (fragment) length = (size_t)(fragment - rest);
    size_t authority = strcspn(rest, "/?#");
    if (authority > length) authority = length;
    const char *wrong = read_authority(rest, authority, url);
    if (wrong) return wrong;
    rest += authority;
    length -= authority;
    const char *query = memchr(rest, '?', length);
    size_t path = query ? (size_t)(query - rest) : length;
    url->path = portcullis_allocate(3 * length + 2);
    encode(url->path, rest, path, ENCODED_IN_PATHS);
    char *end = remove_dots(url->path);
    if (query) {
        *end++ = '?';
        encode(end, query + 1, length - path - 1, ENCODED_IN_QUERIES);
    }
    return NULL;
}

bool portcullis_parse_url(const char *text, portcullis_url *url, portcullis_failure *failure) {
    text += strspn(text, " ");
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == ' ') length--;
    const char *wrong = read_url(text, length, url);
    if (!wrong) return true;
    return portcullis_refuse(failure, PORTCULLIS_INVALID_ARGUMENTS, "`%s` %s", text, wrong);
}
