// Random numbers from the host. The engine's own are fixed when the component is built, and are the same in every call.

import { getRandomBytes } from "wasi:random/random";
import { u64 } from "../engine/engine.ts";
import { provide } from "../engine/hooks.ts";
import { bytesOf } from "./encoding.ts";

/** Maximum bytes per request, as on the web. */
const RANDOM_BYTES_MAX = 65536;

/** Makes every `Math.random` ask the host. */
export function provideRandom(): void {
  provide({ random: fraction });
}

/** `Math.random`. It is not available while the component is built. */
export const random: () => number = /* @__PURE__ */ hostRandom();

function hostRandom(): () => number {
  provideRandom();
  return fraction;
}

/** Returns a number from 0 to 1, made of 53 random bits. */
function fraction(): number {
  const bytes = getRandomBytes(u64(7));
  // Seven bytes have 56 bits. Keep the lower five bits of the first byte, which leaves 53.
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

/** The random functions of `crypto`. `crypto.subtle` does not exist. */
export const crypto = { getRandomValues, randomUUID };
