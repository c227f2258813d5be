// The handles that the policy grants to this call, by key. A component imports only those that its source uses.

import { get } from "wasi:config/store";
import { log as write, type Level } from "wasi:logging/logging";
import { openText } from "portcullis:tool/output";
import { openService, type Service as ServiceHandle } from "portcullis:tool/dependencies";
import { closeAfterCall } from "./after-call.ts";
import { Denied, Failed, payload, Unavailable } from "./failure.ts";
import { encode } from "./globals/encoding.ts";
import type { Json } from "./output.ts";
import { isBytes, sendable, sendableJson } from "./sendable.ts";

/** Maximum bytes per write to the host: what `wasi:io` guarantees to accept. */
const WRITE_BYTES = 4096;

const LEVELS: readonly Level[] = ["trace", "debug", "info", "warn", "error", "critical"];

/** Returns a setting of the plugin from the policy's `config`, or `null` if it is not set. */
export function setting(key: string): string | null {
  return get(sendable(key, "the key of a setting")) ?? null;
}

/** Writes a line to the log of the call. */
export function log(level: Level, message: string): void {
  if (!LEVELS.includes(level)) throw new TypeError(`the level ${String(level)} is none of ${LEVELS.join(", ")}`);
  write(level, "", sendable(message, "the message"));
}

/** Returns the error for a key that has no handle. */
export function noHandle(kind: string, key: string, error: unknown): Error {
  switch (payload(error)) {
    case "unknown-key":
      return new Failed(`the plugin does not ask for \`${key}\``);
    case "wrong-kind":
      return new Failed(`\`${key}\` is no ${kind}`);
    case "not-granted":
      return new Denied(`the policy grants no ${kind} \`${key}\` to this tool`);
    default:
      return new Unavailable(`the ${kind} \`${key}\` could not be opened`);
  }
}

/** A service of the application that embeds the host. */
export interface Service {
  /** Calls a method. The arguments and the result are JSON. */
  call(method: string, input: Json): unknown;
}

/** Opens the service of a dependency key. */
export function service(key: string): Service {
  let handle: ServiceHandle;
  try {
    handle = openService(sendable(key, "the key of a service"));
  } catch (error) {
    throw noHandle("service", key, error);
  }
  return {
    call(method, input) {
      const [name, text] = [sendable(method, "the method"), sendableJson(input, "the input")];
      try {
        return JSON.parse(handle.call(name, text));
      } catch (error) {
        const words = payload(error);
        throw words === undefined ? error : new Failed(String(words), { cause: error });
      }
    },
  };
}

/**
 * Opens a stream for the beginning of the call's text answer. Use it for an answer that does not fit in memory, or for
 * a call that takes long. Bytes are UTF-8. The text that the tool returns afterwards is appended.
 */
export function answerWriter(): { write(text: string | Uint8Array): void } {
  const stream = openText();
  if (stream === null || stream === undefined) throw new Failed("there is no answer to write");
  closeAfterCall(stream);
  return {
    write(text) {
      const bytes = isBytes(text) ? text : encode(sendable(text, "what is written"));
      for (let start = 0; start < bytes.length; start += WRITE_BYTES) {
        stream.blockingWriteAndFlush(bytes.subarray(start, start + WRITE_BYTES));
      }
    },
  };
}
