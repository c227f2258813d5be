// Randomness: an engine's own is fixed at the moment of the build, and the same in every call.

import { getRandomBytes } from "wasi:random/random";
import { u64 } from "../engine/engine.ts";
import { provide } from "../engine/hooks.ts";
import { bytesOf } from "./encoding.ts";

/** The most that is given at once, in bytes: as on the web. */
const RANDOM_BYTES_MAX = 65536;

/** Has every `Math.random` ask the host. */
export function provideRandom(): void {
  provide({ random: fraction });
}

/** `Math.random`. There is none while the component is built. */
export const random: () => number = /* @__PURE__ */ hostRandom();

function hostRandom(): () => number {
  provideRandom();
  return fraction;
}

/** 53 random bits. */
function fraction(): number {
  const bytes = getRandomBytes(u64(7));
  // The upper five bits of the first byte are one too many for each of the 53.
  return Array.from(bytes).reduce((sum, byte, index) => sum * 256 + (index === 0 ? byte & 31 : byte), 0) / 2 ** 53;
}

function getRandomValues<T extends ArrayBufferView>(array: T): T {
  const bytes = bytesOf(array);
  if (bytes.length > RANDOM_BYTES_MAX) throw new RangeError(`at most ${RANDOM_BYTES_MAX} random bytes at once`);
  bytes.set(getRandomBytes(u64(bytes.length)));
  return array;
}

function randomUUID(): string {
  const bytes = getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/** The random part of `crypto`. There is no `crypto.subtle`. */
export const crypto = { getRandomValues, randomUUID };
