// Prints where Node.js is, and what it can run. Its releases run the same JavaScript, so only the machine is the platform.
"use strict";

process.report.excludeNetwork = true;
const libc = process.platform === "linux" && !process.report.getReport().header.glibcVersionRuntime ? "-musl" : "";
const [major, minor] = process.versions.node.split(".").map(Number);
const program = process.execPath;
const platform = `${process.platform}-${process.arch}${libc}`;
process.stdout.write(JSON.stringify({ major, minor, program, tool: program, platform, prefix: null }));
