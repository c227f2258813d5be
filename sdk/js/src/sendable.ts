// Values for the host must have the types that it expects. The engine crashes on a text that UTF-8 cannot encode, or
// on a number in place of a text.

/** Describes the kind of a value. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value !== "object") return `a ${typeof value}`;
  const name = Object.getPrototypeOf(value)?.constructor?.name;
  return typeof name === "string" && name !== "" && name !== "Object" ? `a value of ${name}` : "an object";
}

/** Converts a text for the host. A lone surrogate becomes U+FFFD. */
export function sendable(text: string, what: string): string {
  if (typeof text !== "string") throw new TypeError(`${what} has to be a string, and is ${kindOf(text)}`);
  return text.toWellFormed();
}

/** Converts an optional text for the host. */
export function sendableIfAny(text: string | null | undefined, what: string): string | undefined {
  return text === null || text === undefined ? undefined : sendable(text, what);
}

/** Returns whether a value is bytes. With StarlingMonkey, bytes from the host are of another `Uint8Array`. */
export function isBytes(value: unknown): value is Uint8Array {
  return ArrayBuffer.isView(value) && Object.prototype.toString.call(value) === "[object Uint8Array]";
}

/** Checks bytes for the host. */
export function sendableBytes(bytes: Uint8Array, what: string): Uint8Array {
  if (!isBytes(bytes)) throw new TypeError(`${what} has to be a Uint8Array, and is ${kindOf(bytes)}`);
  return bytes;
}

/** An escape sequence in JSON, of a lone surrogate or of another character. */
const ESCAPE = /\\(?:ud[89a-f][\da-f]{2}|.)/g;

/** Converts a value to JSON for the host. Throws on values that JSON would drop silently. */
export function sendableJson(value: unknown, what: string): string {
  const document: string | undefined = JSON.stringify(value, refuseCollections);
  if (document === undefined) throw new TypeError(`${what} is ${kindOf(value)}, which JSON cannot say`);
  // `JSON.stringify` escapes only lone surrogates by number, apart from control characters.
  if (!document.includes("\\ud")) return document;
  return document.replace(ESCAPE, (escape) => (escape.startsWith("\\ud") ? "\ufffd" : escape));
}

function refuseCollections(_: string, value: unknown): unknown {
  if (value instanceof Map) throw new TypeError("JSON has no Map: use Object.fromEntries(map)");
  if (value instanceof Set) throw new TypeError("JSON has no Set: use [...set]");
  return value;
}
