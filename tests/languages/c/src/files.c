#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools.h"

// Where the host shows the directory.
#define WORKSPACE "/workspace"

// The place of a path. Returns NULL, with errno, for a path that C would cut: no file has a NUL in its name.
static char *full(portcullis_view path) {
    if (!memchr(path.data, '\0', path.length)) return portcullis_format(WORKSPACE "/%s", path.data);
    errno = EINVAL;
    return NULL;
}

static portcullis_answer cannot(const char *what, portcullis_view path) {
    const char *why = strerror(errno);
    char *message;
    size_t length;
    FILE *stream = open_memstream(&message, &length);
    fprintf(stream, "cannot %s ", what);
    fwrite(path.data, 1, path.length, stream);
    fprintf(stream, ": %s", why);
    fclose(stream);
    return portcullis_fail_of(PORTCULLIS_FAILED, (portcullis_view){message, length});
}

// Reads to the end. Returns NULL, with errno, where that fails.
static char *read_all(FILE *file, size_t *length) {
    size_t room = 4096;
    char *text = malloc(room);
    *length = 0;
    while (text) {
        *length += fread(text + *length, 1, room - *length, file);
        if (*length < room) return ferror(file) ? NULL : text;
        room *= 2;
        text = realloc(text, room);
    }
    return NULL;
}

portcullis_answer read_file(yyjson_val *arguments) {
    portcullis_view path = text_of(arguments, "path");
    const char *place = full(path);
    FILE *file = place ? fopen(place, "rb") : NULL;
    if (!file) return cannot("read", path);
    size_t length;
    char *text = read_all(file, &length);
    portcullis_answer answer = text ? portcullis_text_of(text, length) : cannot("read", path);
    fclose(file);
    return answer;
}

// Makes the directories above a path.
static bool make_parents(char *path) {
    for (char *end = strchr(path + sizeof WORKSPACE, '/'); end; end = strchr(end + 1, '/')) {
        *end = '\0';
        bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
        *end = '/';
        if (!made) return false;
    }
    return true;
}

portcullis_answer write_file(yyjson_val *arguments) {
    portcullis_view path = text_of(arguments, "path"), text = text_of(arguments, "text");
    char *place = full(path);
    FILE *file = place && make_parents(place) ? fopen(place, "wb") : NULL;
    if (!file) return cannot("write", path);
    bool written = fwrite(text.data, 1, text.length, file) == text.length;
    // What was buffered may still fail to be written.
    written = fclose(file) == 0 && written;
    return written ? portcullis_textf("wrote %zu bytes", text.length) : cannot("write", path);
}

typedef struct entry {
    char *name;
    bool is_directory;
    uint64_t size;
} entry;

static int by_name(const void *left, const void *right) {
    return strcmp(((const entry *)left)->name, ((const entry *)right)->name);
}

// The entries of a directory, sorted. Returns false, with errno, where it cannot be read.
static bool read_entries(const char *directory, entry **entries, size_t *count) {
    DIR *stream = opendir(directory);
    if (!stream) return false;
    *entries = NULL;
    *count = 0;
    for (struct dirent *found; (found = readdir(stream));) {
        if (strcmp(found->d_name, ".") == 0 || strcmp(found->d_name, "..") == 0) continue;
        struct stat status;
        if (stat(portcullis_format("%s/%s", directory, found->d_name), &status) != 0) continue;
        bool is_directory = S_ISDIR(status.st_mode);
        *entries = realloc(*entries, (*count + 1) * sizeof **entries);
        (*entries)[(*count)++] = (entry){strdup(found->d_name), is_directory,
                                         is_directory ? 0 : (uint64_t)status.st_size};
    }
    closedir(stream);
    if (*count > 0) qsort(*entries, *count, sizeof **entries, by_name);
    return true;
}

portcullis_answer list_directory(yyjson_val *arguments) {
    portcullis_view path = text_of(arguments, "path");
    const char *place = full(path);
    entry *entries;
    size_t count;
    if (!place || !read_entries(place, &entries, &count)) return cannot("list", path);
    yyjson_mut_doc *answer = portcullis_new_object();
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(answer, yyjson_mut_doc_get_root(answer), "entries");
    for (size_t i = 0; i < count; i++) {
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(answer, list);
        yyjson_mut_obj_add_str(answer, item, "name", entries[i].name);
        yyjson_mut_obj_add_str(answer, item, "kind", entries[i].is_directory ? "directory" : "file");
        yyjson_mut_obj_add_uint(answer, item, "size", entries[i].size);
    }
    return portcullis_json(answer);
}

portcullis_answer remove_file(yyjson_val *arguments) {
    portcullis_view path = text_of(arguments, "path");
    const char *place = full(path);
    return place && unlink(place) == 0 ? portcullis_text("removed") : cannot("remove", path);
}
