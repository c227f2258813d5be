// The fields of requests and responses.

export type HeadersInit = Headers | Record<string, string> | Iterable<readonly [string, string]>;

export class Headers {
  #values = new Map<string, string[]>();

  constructor(init: HeadersInit = {}) {
    const entries = Symbol.iterator in init ? init : Object.entries(init);
    for (const [name, value] of entries as Iterable<[string, string]>) this.append(name, value);
  }

  append(name: string, value: string): void {
    const key = name.toLowerCase();
    this.#values.set(key, [...(this.#values.get(key) ?? []), String(value).trim()]);
  }

  set(name: string, value: string): void {
    this.#values.set(name.toLowerCase(), [String(value).trim()]);
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
