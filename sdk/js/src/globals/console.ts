// Printing, which goes into the record of the call.

import { getStderr } from "wasi:cli/stderr";
import { getStdout } from "wasi:cli/stdout";
import type { OutputStream } from "wasi:io/streams";
import { encode } from "./encoding.ts";

/** How much is written at once: what `wasi:io` promises to take, in bytes. */
const WRITE_BYTES = 4096;

let stdout: OutputStream | undefined;
let stderr: OutputStream | undefined;

function print(stream: OutputStream, values: unknown[]): void {
  const bytes = encode(`${values.map((value) => show(value)).join(" ")}\n`);
  for (let start = 0; start < bytes.length; start += WRITE_BYTES) {
    stream.blockingWriteAndFlush(bytes.subarray(start, start + WRITE_BYTES));
  }
}

/** A value as a person reads it. */
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

const out = (...values: unknown[]) => print((stdout ??= getStdout()), values);
const err = (...values: unknown[]) => print((stderr ??= getStderr()), values);

/** `console`: `log`, `info` and `debug` to standard output, the others to standard error. */
export const console = {
  log: out,
  info: out,
  debug: out,
  warn: err,
  error: err,
  trace: err,
  assert(condition?: unknown, ...values: unknown[]) {
    if (!condition) err("Assertion failed", ...values);
  },
};
