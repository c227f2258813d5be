// What a tool answers with.

import { sendableJson } from "./sendable.ts";

/** Anything that JSON can say. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A piece of an answer made of several. */
export type Part =
  | { type: "text"; text: string }
  | { type: "image" | "file"; mediaType: string; data: Uint8Array };

/** What goes beside an answer. */
export interface Extras {
  /** A few words for people, such as `Read src/main.rs`. */
  title?: string;
  /** For programs; a model does not see it. */
  metadata?: Record<string, unknown>;
}

type Output = { tag: "text" | "json"; val: string } | { tag: "parts"; val: readonly Part[] };

/** An answer with a title or metadata, or one that a plain value cannot express. */
export class Answer {
  constructor(
    readonly output: Output,
    readonly extras: Extras,
  ) {}
}

/** Answers with text. A returned string is the same without extras. */
export function text(value: string, extras: Extras = {}): Answer {
  return new Answer({ tag: "text", val: value }, extras);
}

/** Answers with JSON. A returned object, array, number, boolean or `null` is the same without extras. */
export function json(value: unknown, extras: Extras = {}): Answer {
  return new Answer({ tag: "json", val: sendableJson(value, "the answer") }, extras);
}

/** Answers with several pieces: text, images and files. */
export function parts(pieces: readonly (string | Part)[], extras: Extras = {}): Answer {
  const all = pieces.map((piece): Part => (typeof piece === "string" ? { type: "text", text: piece } : piece));
  return new Answer({ tag: "parts", val: all }, extras);
}

/** An image, for `parts`. */
export function image(mediaType: string, data: Uint8Array): Part {
  return { type: "image", mediaType, data };
}

/** A file, for `parts`. */
export function file(mediaType: string, data: Uint8Array): Part {
  return { type: "file", mediaType, data };
}

/** What a tool returned, as an answer. */
export function answer(value: unknown): Answer {
  if (value instanceof Answer) return value;
  if (typeof value === "string") return text(value);
  if (value === undefined) throw new TypeError("the tool returned nothing; return a string, an object or an answer");
  return json(value);
}
