import { plugin } from "portcullis-sdk";
import { ask, context, progress, wait } from "./call.ts";
import { list, read, remove, write } from "./files.ts";
import { fail, hog, late, recurse, spin, throwTool, trap } from "./failures.ts";
import { fetchTool, recall, remember, setting } from "./handles.ts";
import { converse, run, stream } from "./programs.ts";
import { keep, picture, print, surroundings, writeOut } from "./surroundings.ts";
import { delegate, delegateAll, lookup, plan } from "./toolset.ts";
import type {} from "./types.ts";
import { add, echo, measure, repeat, reverse } from "./values.ts";

export default plugin({
  name: "conformance",
  version: "1.0.0",
  description: "The same tools in every language.",
  tools: [
    echo, reverse, repeat, measure, add,
    fail, throwTool, trap,
    progress, wait, context, ask,
    read, write, list, remove,
    fetchTool, remember, recall, setting,
    run, stream, converse,
    delegate, delegateAll, lookup, plan,
    print, surroundings, picture, writeOut, keep,
    spin, hog, recurse, late,
  ],
  dependencies: {
    workspace: { kind: "directory", reason: "Files that the tools read and write.", optional: true },
    web: { kind: "http", reason: "What the tools fetch.", optional: true },
    notes: { kind: "store", reason: "What the tools remember.", optional: true },
    sh: { kind: "process", reason: "What the tools run.", optional: true },
    others: { kind: "tools", reason: "What the tools call.", optional: true },
  },
});
