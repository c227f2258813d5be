// The bodies of requests and responses.

import { decode, encode, bytesOf } from "./encoding.ts";
import { URLSearchParams } from "./url.ts";

export type BodyInit = string | ArrayBuffer | ArrayBufferView | URLSearchParams;

/** Returns the bytes of a body, and its media type if the body implies one. */
export function bodyOf(init: BodyInit | null | undefined): { bytes: Uint8Array<ArrayBuffer>; type?: string } | null {
  if (init === null || init === undefined) return null;
  if (typeof init === "string") return { bytes: encode(init), type: "text/plain;charset=UTF-8" };
  if (init instanceof URLSearchParams) {
    return { bytes: encode(String(init)), type: "application/x-www-form-urlencoded;charset=UTF-8" };
  }
  if (init instanceof ArrayBuffer || ArrayBuffer.isView(init)) return { bytes: bytesOf(init).slice() };
  throw new TypeError("a body is a string, bytes or URLSearchParams");
}

/** The chunks of a body as they arrive. */
export type Chunks = AsyncIterable<Uint8Array<ArrayBuffer>>;

/** A body that can be read once. */
export class Body {
  #chunks: Chunks | null;
  #used = false;

  constructor(chunks: Chunks | null) {
    this.#chunks = chunks;
  }

  get bodyUsed(): boolean {
    return this.#used;
  }

  /** The chunks of the body as they arrive: `for await (const bytes of response.body)`. */
  get body(): Chunks | null {
    if (this.#chunks === null) return null;
    return { [Symbol.asyncIterator]: () => this.#take()[Symbol.asyncIterator]() };
  }

  #take(): Chunks {
    if (this.#used) throw new TypeError("the body was read already");
    this.#used = true;
    return this.#chunks as Chunks;
  }

  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    if (this.#chunks === null) return new Uint8Array(0);
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of this.#take()) {
      chunks.push(chunk);
      length += chunk.length;
    }
    const bytes = new Uint8Array(length);
    let start = 0;
    for (const chunk of chunks) {
      bytes.set(chunk, start);
      start += chunk.length;
    }
    return bytes;
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return (await this.bytes()).buffer;
  }

  async text(): Promise<string> {
    return decode(await this.bytes()).replace(/^\ufeff/, "");
  }

  async json(): Promise<any> {
    return JSON.parse(await this.text());
  }
}

/** Yields a complete body as one chunk. */
export async function* whole(bytes: Uint8Array<ArrayBuffer>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  if (bytes.length > 0) yield bytes;
}
