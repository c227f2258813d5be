// What goes to the host has to be of its types. An engine does not survive a text that no UTF-8 can say, or a number
// where there should be a text.

/** What a value is, in words. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value !== "object") return `a ${typeof value}`;
  const name = Object.getPrototypeOf(value)?.constructor?.name;
  return typeof name === "string" && name !== "" && name !== "Object" ? `a value of ${name}` : "an object";
}

/** A text as the host takes it: a lone surrogate becomes U+FFFD. */
export function sendable(text: string, what: string): string {
  if (typeof text !== "string") throw new TypeError(`${what} has to be a string, and is ${kindOf(text)}`);
  return text.toWellFormed();
}

/** The same for a text that may be left out. */
export function sendableIfAny(text: string | null | undefined, what: string): string | undefined {
  return text === null || text === undefined ? undefined : sendable(text, what);
}

/** Bytes as the host takes them. */
export function sendableBytes(bytes: Uint8Array, what: string): Uint8Array {
  if (!(bytes instanceof Uint8Array)) throw new TypeError(`${what} has to be a Uint8Array, and is ${kindOf(bytes)}`);
  return bytes;
}

/** An escape in JSON, of a lone surrogate or of anything else. */
const ESCAPE = /\\(?:ud[89a-f][\da-f]{2}|.)/g;

/** The JSON of a value as the host takes it. What JSON would lose without a word is refused. */
export function sendableJson(value: unknown, what: string): string {
  const document: string | undefined = JSON.stringify(value, refuseCollections);
  if (document === undefined) throw new TypeError(`${what} is ${kindOf(value)}, which JSON cannot say`);
  // Only a lone surrogate is escaped by its number.
  if (!document.includes("\\ud")) return document;
  return document.replace(ESCAPE, (escape) => (escape.startsWith("\\ud") ? "\ufffd" : escape));
}

function refuseCollections(_: string, value: unknown): unknown {
  if (value instanceof Map) throw new TypeError("JSON has no Map: use Object.fromEntries(map)");
  if (value instanceof Set) throw new TypeError("JSON has no Set: use [...set]");
  return value;
}
