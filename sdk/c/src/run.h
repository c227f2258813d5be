// How a tool is run with its arguments as text. In C and C++ by yyjson, see arguments.c; in Zig by std.json.
#ifndef PORTCULLIS_RUN_H
#define PORTCULLIS_RUN_H

#include "portcullis/host.h"

portcullis_answer portcullis_run(const portcullis_tool *tool, portcullis_bytes arguments);

#endif
