// Key-value stores. Their values outlive a call.

import { type Bucket, open } from "wasi:keyvalue/store";
import { Denied, Failed, payload, Unavailable } from "./failure.ts";
import { decode, encode } from "./globals/encoding.ts";
import { sendable, sendableBytes, sendableJson } from "./sendable.ts";

/** How the host's message for a full store begins. The interface has no code for this error. */
const FULL = "the store is full";

/** How the host's message begins when a tool that declares `read` but not `write` changes a store. */
const READ_ONLY = "the store is read-only";

/** The key-value store of a plugin. The policy limits its size and lifetime. */
export interface Store {
  get(key: string): string | null;
  set(key: string, value: string): void;
  /** Returns a value parsed from JSON, or `null` if the key has none. */
  getJson(key: string): unknown;
  setJson(key: string, value: unknown): void;
  getBytes(key: string): Uint8Array | null;
  setBytes(key: string, value: Uint8Array): void;
  delete(key: string): void;
  has(key: string): boolean;
  keys(): string[];
}

/** Opens the store of a dependency key. */
export function store(key: string): Store {
  const attempt = <T>(act: () => T): T => {
    try {
      return act();
    } catch (error) {
      throw storeFailure(key, error);
    }
  };
  const bucket = attempt(() => open(sendable(key, "the key of a store")));
  const named = (name: string) => sendable(name, "the key of a value");
  const getBytes = (name: string) => attempt(() => bucket.get(named(name))) ?? null;
  const setBytes = (name: string, value: Uint8Array) =>
    attempt(() => bucket.set(named(name), sendableBytes(value, "the value")));
  const get = (name: string) => {
    const bytes = getBytes(name);
    return bytes === null ? null : decode(bytes);
  };
  const set = (name: string, value: string) => setBytes(name, encode(sendable(value, "the value")));
  return {
    get,
    set,
    getBytes,
    setBytes,
    getJson: (name) => JSON.parse(get(name) ?? "null"),
    setJson: (name, value) => set(name, sendableJson(value, "the value")),
    delete: (name) => attempt(() => bucket.delete(named(name))),
    has: (name) => attempt(() => bucket.exists(named(name))),
    keys: () => attempt(() => allKeys(bucket)),
  };
}

function allKeys(bucket: Bucket): string[] {
  const keys: string[] = [];
  let cursor: bigint | number | null = null;
  do {
    const page = bucket.listKeys(cursor);
    keys.push(...page.keys);
    cursor = page.cursor ?? null;
  } while (cursor !== null);
  return keys;
}

function storeFailure(key: string, error: unknown): unknown {
  const reason = payload(error) as { tag: string; val?: string } | undefined;
  switch (reason?.tag) {
    case "no-such-store":
      return new Failed(`the plugin asks for no store \`${key}\``);
    case "access-denied":
      return new Denied(`the policy grants no store \`${key}\` to this tool`);
    case "other": {
      const words = reason.val ?? "the store does not work";
      if (words.startsWith(READ_ONLY)) return new Denied(words);
      return words.startsWith(FULL) ? new Failed(words) : new Unavailable(words);
    }
    default:
      return error;
  }
}
