// The header fields of requests and responses.

export type HeadersInit = Headers | Record<string, string> | Iterable<readonly [string, string]>;

/** The syntax of field names and methods. */
const TOKEN = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/;

/** The characters that a field value cannot contain: control characters except the tab. */
const CONTROLS = /[\0-\x08\x0a-\x1f\x7f]/;

/** Returns a text if it is an HTTP token, and throws otherwise. */
export function token(text: string, what: string): string {
  if (!TOKEN.test(text)) throw new TypeError(`${what} ${JSON.stringify(text)} is no token of HTTP`);
  return text;
}

function checked(name: string, value: string): string {
  token(name, "the name of a header");
  const text = String(value).replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, "");
  if (CONTROLS.test(text)) throw new TypeError(`the value of the header ${name} holds a control character`);
  return text;
}

export class Headers {
  #values = new Map<string, string[]>();

  constructor(init: HeadersInit = {}) {
    const entries = Symbol.iterator in init ? init : Object.entries(init);
    for (const [name, value] of entries as Iterable<[string, string]>) this.append(name, value);
  }

  append(name: string, value: string): void {
    const [key, text] = [name.toLowerCase(), checked(name, value)];
    this.#values.set(key, [...(this.#values.get(key) ?? []), text]);
  }

  set(name: string, value: string): void {
    this.#values.set(name.toLowerCase(), [checked(name, value)]);
  }

  get(name: string): string | null {
    return this.#values.get(name.toLowerCase())?.join(", ") ?? null;
  }

  getSetCookie(): string[] {
    return [...(this.#values.get("set-cookie") ?? [])];
  }

  has(name: string): boolean {
    return this.#values.has(name.toLowerCase());
  }

  delete(name: string): void {
    this.#values.delete(name.toLowerCase());
  }

  forEach(act: (value: string, name: string, headers: Headers) => void): void {
    for (const [name, value] of this) act(value, name, this);
  }

  *keys(): IterableIterator<string> {
    for (const [name] of this) yield name;
  }

  *values(): IterableIterator<string> {
    for (const [, value] of this) yield value;
  }

  *entries(): IterableIterator<[string, string]> {
    for (const name of [...this.#values.keys()].sort()) yield [name, this.get(name) as string];
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.entries();
  }
}
