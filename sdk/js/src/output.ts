// The answers of tools.

import { sendableJson } from "./sendable.ts";

/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** An image or a file. */
export type FilePart = { type: "image" | "file"; mediaType: string; data: Uint8Array; name?: string | undefined };

/** One part of an answer with several parts. */
export type Part = { type: "text"; text: string } | FilePart;

/** The title and metadata of an answer. */
export interface Extras {
  /** A short title for people, such as `Read src/main.rs`. */
  title?: string;
  /** Data for programs. The model does not see it. */
  metadata?: Record<string, unknown>;
}

type Output = { tag: "text" | "json"; val: string } | { tag: "parts"; val: readonly Part[] };

/** An answer that has a title or metadata, or that a plain value cannot express. */
export class Answer {
  constructor(
    readonly output: Output,
    readonly extras: Extras,
  ) {}
}

/** Creates a text answer. Without extras, a tool can return the string itself. */
export function text(value: string, extras: Extras = {}): Answer {
  return new Answer({ tag: "text", val: value }, extras);
}

/** Creates a JSON answer. Without extras, a tool can return the object, array, number, boolean or `null` itself. */
export function json(value: unknown, extras: Extras = {}): Answer {
  return new Answer({ tag: "json", val: sendableJson(value, "the answer") }, extras);
}

/** Creates an answer with several parts: text, images and files. */
export function parts(pieces: readonly (string | Part)[], extras: Extras = {}): Answer {
  const all = pieces.map((piece): Part => (typeof piece === "string" ? { type: "text", text: piece } : piece));
  return new Answer({ tag: "parts", val: all }, extras);
}

/** Creates an image for `parts` and `context.keep`. `name` is the file name for people, never a path. */
export function image(mediaType: string, data: Uint8Array, name?: string): FilePart {
  return { type: "image", mediaType, data, name };
}

/** Creates a file for `parts` and `context.keep`. `name` is the file name for people, never a path. */
export function file(mediaType: string, data: Uint8Array, name?: string): FilePart {
  return { type: "file", mediaType, data, name };
}

/** Converts the return value of a tool to an answer. */
export function answer(value: unknown): Answer {
  if (value instanceof Answer) return value;
  if (typeof value === "string") return text(value);
  if (value === undefined) throw new TypeError("the tool returned nothing; return a string, an object or an answer");
  return json(value);
}
