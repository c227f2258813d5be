// `structuredClone`, for the types of JavaScript itself.

import { EngineDate } from "../engine/hooks.ts";

export function structuredClone<T>(value: T): T {
  return clone(value, new Map()) as T;
}

function clone(value: unknown, made: Map<object, unknown>): unknown {
  if (typeof value === "function" || typeof value === "symbol") {
    throw new TypeError(`a ${typeof value} cannot be cloned`);
  }
  if (typeof value !== "object" || value === null) return value;
  if (made.has(value)) return made.get(value);
  const keep = <T extends object>(copy: T): T => (made.set(value, copy), copy);
  if (value instanceof EngineDate) return keep(new EngineDate(value));
  if (value instanceof RegExp) return keep(new RegExp(value));
  if (value instanceof ArrayBuffer) return keep(value.slice(0));
  if (value instanceof DataView) return keep(new DataView(value.buffer.slice(0), value.byteOffset, value.byteLength));
  if (ArrayBuffer.isView(value)) return keep((value as Uint8Array).slice());
  if (value instanceof Error) return keep(Object.assign(new Error(value.message), { name: value.name }));
  if (value instanceof Map) {
    const copy = keep(new Map());
    for (const [key, item] of value) copy.set(clone(key, made), clone(item, made));
    return copy;
  }
  if (value instanceof Set) {
    const copy = keep(new Set());
    for (const item of value) copy.add(clone(item, made));
    return copy;
  }
  const copy = keep<Record<string, unknown>>(Array.isArray(value) ? (new Array(value.length) as never) : {});
  for (const [key, item] of Object.entries(value)) copy[key] = clone(item, made);
  return copy;
}
