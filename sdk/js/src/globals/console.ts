// `console`, which writes to the log of the call.

import { getStderr } from "wasi:cli/stderr";
import { getStdout } from "wasi:cli/stdout";
import type { OutputStream } from "wasi:io/streams";
import { encode } from "./encoding.ts";

/** Maximum bytes per write: what `wasi:io` guarantees to accept. */
const WRITE_BYTES = 4096;

let stdout: OutputStream | undefined;
let stderr: OutputStream | undefined;

function print(stream: OutputStream, values: unknown[]): void {
  const line = values.map((value) => show(value)).join(" ");
  const bytes = encode(`${indent === "" ? line : line.replace(/^/gm, indent)}\n`);
  for (let start = 0; start < bytes.length; start += WRITE_BYTES) {
    stream.blockingWriteAndFlush(bytes.subarray(start, start + WRITE_BYTES));
  }
}

/** Formats a value for people. */
function show(value: unknown): string {
  if (typeof value === "string") return value;
  if (value instanceof Error) return value.stack ? `${value}\n${value.stack}`.trimEnd() : String(value);
  if (typeof value !== "object" || value === null) return typeof value === "bigint" ? `${value}n` : String(value);
  const above = new Set<object>();
  return JSON.stringify(value, function (this: object, _, inner: unknown) {
    if (typeof inner === "bigint") return `${inner}n`;
    if (inner instanceof Map) return Object.fromEntries(inner);
    if (inner instanceof Set) return [...inner];
    if (inner instanceof Error) return String(inner);
    if (typeof inner === "object" && inner !== null) {
      if (above.has(inner)) return "[seen above]";
      above.add(inner);
    }
    return inner;
  });
}

/** The indentation that `group` adds to each line. */
let indent = "";

const counts = new Map<string, number>();

const out = (...values: unknown[]) => print((stdout ??= getStdout()), values);
const err = (...values: unknown[]) => print((stderr ??= getStderr()), values);

function group(...values: unknown[]): void {
  if (values.length > 0) out(...values);
  indent += "  ";
}

/** `console`. Warnings, errors, `trace` and `assert` go to standard error, all others to standard output. */
export const console = {
  log: out,
  info: out,
  debug: out,
  dir: (value: unknown) => out(value),
  dirxml: out,
  warn: err,
  error: err,
  trace: err,
  group,
  groupCollapsed: group,
  groupEnd() {
    indent = indent.slice(2);
  },
  /** Prints each row on its own line. */
  table(rows: unknown) {
    if (typeof rows !== "object" || rows === null) return out(rows);
    for (const [key, row] of Object.entries(rows)) out(`${key}:`, row);
  },
  count(label = "default") {
    counts.set(label, (counts.get(label) ?? 0) + 1);
    out(`${label}: ${counts.get(label)}`);
  },
  countReset(label = "default") {
    counts.delete(label);
  },
  assert(condition?: unknown, ...values: unknown[]) {
    if (!condition) err("Assertion failed", ...values);
  },
};
