// The tools of the conformance plugin, by the file that they are in.
#ifndef TOOLS_H
#define TOOLS_H

#include <portcullis.h>

// Arguments that the schema says are there, and within its bounds.
portcullis_view text_of(yyjson_val *arguments, const char *name);
int64_t number_of(yyjson_val *arguments, const char *name);
// The key of a handle: a text of C, which a key with a NUL is not.
const char *key_of(yyjson_val *arguments);
// A list of texts.
portcullis_view *texts_of(yyjson_val *arguments, const char *name, size_t *count);

// data.c: what goes in and out.
portcullis_answer echo(yyjson_val *arguments);
portcullis_answer reverse(yyjson_val *arguments);
portcullis_answer repeat(yyjson_val *arguments);
portcullis_answer measure(yyjson_val *arguments);
portcullis_answer add(yyjson_val *arguments);
portcullis_answer picture(yyjson_val *arguments);
portcullis_answer write_out(yyjson_val *arguments);
portcullis_answer keep_text(yyjson_val *arguments);

// endings.c: how a call ends.
portcullis_answer fail(yyjson_val *arguments);
portcullis_answer trap(yyjson_val *arguments);
portcullis_answer wait(yyjson_val *arguments);
portcullis_answer spin(yyjson_val *arguments);
portcullis_answer hog(yyjson_val *arguments);
portcullis_answer recurse(yyjson_val *arguments);

// files.c: a granted directory, through the standard library alone.
portcullis_answer read_file(yyjson_val *arguments);
portcullis_answer write_file(yyjson_val *arguments);
portcullis_answer list_directory(yyjson_val *arguments);
portcullis_answer remove_file(yyjson_val *arguments);

// host.c: what a tool sees of its host, and says to it.
portcullis_answer progress(yyjson_val *arguments);
portcullis_answer context(yyjson_val *arguments);
portcullis_answer ask(yyjson_val *arguments);
portcullis_answer fetch(yyjson_val *arguments);
portcullis_answer remember(yyjson_val *arguments);
portcullis_answer recall(yyjson_val *arguments);
portcullis_answer setting(yyjson_val *arguments);
portcullis_answer print(yyjson_val *arguments);
portcullis_answer surroundings(yyjson_val *arguments);

// programs.c: programs of the system.
portcullis_answer run_program(yyjson_val *arguments);
portcullis_answer stream(yyjson_val *arguments);
portcullis_answer converse(yyjson_val *arguments);

// toolset.c: tools of other plugins.
portcullis_answer delegate(yyjson_val *arguments);
portcullis_answer delegate_all(yyjson_val *arguments);
portcullis_answer lookup(yyjson_val *arguments);
portcullis_answer plan(yyjson_val *arguments);

#endif
