// UTF-8. Neither engine has it without the web's interfaces.

/** Maximum code units per `String.fromCharCode` call: well below the engine's limit for arguments. */
const UNITS_AT_ONCE = 4096;

const REPLACEMENT = 0xfffd;

/** Encodes a text as UTF-8. A lone surrogate becomes U+FFFD. */
export function encode(text: string): Uint8Array<ArrayBuffer> {
  // Each code unit takes at most three bytes.
  const bytes = new Uint8Array(text.length * 3);
  let length = 0;
  for (let index = 0; index < text.length; index++) {
    let code = text.charCodeAt(index);
    if (code < 0x80) {
      bytes[length++] = code;
      continue;
    }
    if (code >= 0xd800 && code < 0xe000) {
      code = text.codePointAt(index) ?? REPLACEMENT;
      if (code > 0xffff) index += 1;
      else code = REPLACEMENT;
    }
    if (code < 0x800) {
      bytes[length++] = 0xc0 | (code >> 6);
    } else if (code < 0x10000) {
      bytes[length++] = 0xe0 | (code >> 12);
      bytes[length++] = 0x80 | ((code >> 6) & 0x3f);
    } else {
      bytes[length++] = 0xf0 | (code >> 18);
      bytes[length++] = 0x80 | ((code >> 12) & 0x3f);
      bytes[length++] = 0x80 | ((code >> 6) & 0x3f);
    }
    bytes[length++] = 0x80 | (code & 0x3f);
  }
  return bytes.slice(0, length);
}

/** Decodes UTF-8. Invalid bytes become U+FFFD, or throw. */
export function decode(bytes: Uint8Array, fatal = false): string {
  const pieces: string[] = [];
  let units: number[] = [];
  let index = 0;
  while (index < bytes.length) {
    const [code, length] = codePoint(bytes, index);
    if (code === undefined && fatal) throw new TypeError("the bytes are no UTF-8");
    const known = code ?? REPLACEMENT;
    index += length;
    if (known < 0x10000) units.push(known);
    else units.push(0xd800 | ((known - 0x10000) >> 10), 0xdc00 | ((known - 0x10000) & 0x3ff));
    if (units.length >= UNITS_AT_ONCE) {
      pieces.push(String.fromCharCode(...units));
      units = [];
    }
  }
  pieces.push(String.fromCharCode(...units));
  return pieces.join("");
}

/** Returns the code point at an index and its length in bytes, or `undefined` and how many bytes to replace. */
function codePoint(bytes: Uint8Array, start: number): [code: number | undefined, length: number] {
  const first = bytes[start] as number;
  if (first < 0x80) return [first, 1];
  if (first < 0xc2 || first > 0xf4) return [undefined, 1];
  const more = following(first);
  let code = first & (0x3f >> more);
  for (let step = 1; step <= more; step++) {
    const next = bytes[start + step] ?? 0;
    if (!follows(first, step, next)) return [undefined, step];
    code = (code << 6) | (next & 0x3f);
  }
  return [code, more + 1];
}

/** Returns how many bytes follow the first byte of a multi-byte code point. */
function following(first: number): number {
  return first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
}

/** Returns whether a byte is valid at the given distance after the first one. */
function follows(first: number, step: number, next: number): boolean {
  // The bounds of the second byte exclude overlong forms, surrogates and values beyond Unicode.
  const low = step > 1 ? 0x80 : first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const high = step > 1 ? 0xbf : first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  return next >= low && next <= high;
}

/** Returns how many bytes at the end belong to an incomplete code point. */
function unfinished(bytes: Uint8Array): number {
  for (let length = 1; length <= Math.min(3, bytes.length); length++) {
    const start = bytes.length - length;
    const first = bytes[start] as number;
    if ((first & 0xc0) === 0x80) continue;
    const begins = first >= 0xc2 && first <= 0xf4 && following(first) >= length;
    return begins && bytes.subarray(start + 1).every((next, index) => follows(first, index + 1, next)) ? length : 0;
  }
  return 0;
}

/** Returns the bytes of a `BufferSource`. */
export function bytesOf(source: ArrayBuffer | ArrayBufferView): Uint8Array<ArrayBuffer> {
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  return new Uint8Array(source.buffer as ArrayBuffer, source.byteOffset, source.byteLength);
}

export class TextEncoder {
  readonly encoding = "utf-8";

  encode(text = ""): Uint8Array<ArrayBuffer> {
    return encode(text);
  }
}

const EMPTY = new Uint8Array(0);

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second;
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

export class TextDecoder {
  /** The bytes of an incomplete code point. */
  #rest: Uint8Array = EMPTY;
  /** Whether a part of the stream was decoded already. */
  #begun = false;
  readonly encoding = "utf-8";
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;

  constructor(label = "utf-8", { fatal = false, ignoreBOM = false } = {}) {
    const known = ["utf-8", "utf8"].includes(label.toLowerCase());
    if (!known) throw new RangeError(`the encoding ${label} is not supported`);
    this.fatal = fatal;
    this.ignoreBOM = ignoreBOM;
  }

  /** Decodes bytes. With `stream`, an incomplete code point is kept for the next call. */
  decode(source: ArrayBuffer | ArrayBufferView = new ArrayBuffer(0), { stream = false } = {}): string {
    const bytes = joined(this.#rest, bytesOf(source));
    const whole = bytes.length - (stream ? unfinished(bytes) : 0);
    this.#rest = stream ? bytes.slice(whole) : EMPTY;
    const text = decode(bytes.subarray(0, whole), this.fatal);
    const skipped = !this.#begun && !this.ignoreBOM && text.startsWith("\ufeff") ? text.slice(1) : text;
    this.#begun = stream && (this.#begun || text !== "");
    return skipped;
  }
}
