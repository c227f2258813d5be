// Runs a tool with its arguments as text. C and C++ parse them with yyjson, see arguments.c; Zig with std.json.
#ifndef PORTCULLIS_RUN_H
#define PORTCULLIS_RUN_H

#include "portcullis/host.h"

// Closes the stream of the call's answer. The instance may run another call.
void portcullis_end_answer(void);

portcullis_answer portcullis_run(const portcullis_tool *tool, portcullis_bytes arguments);

#endif
