// The setup that must run before a plugin's first line. It imports nothing from the host.

import "./hooks.ts";
import { enqueue, runUncaught } from "./jobs.ts";
import { LoopPromise } from "./promise.ts";

globalThis.Promise = LoopPromise as unknown as PromiseConstructor;
globalThis.queueMicrotask = (callback) => enqueue(() => runUncaught(callback));

// Otherwise zod compiles a parser for each schema in every call, to parse a single value.
(globalThis as { __zod_globalConfig?: { jitless: boolean } }).__zod_globalConfig = { jitless: true };

/** Replaces the engine's `Array.fromAsync`, which would return a promise of the engine. */
async function fromAsync<T>(
  items: AsyncIterable<T> | Iterable<T | PromiseLike<T>> | ArrayLike<T | PromiseLike<T>>,
  map: (value: T, index: number) => unknown = (value) => value,
): Promise<unknown[]> {
  const iterable = Symbol.asyncIterator in items || Symbol.iterator in items ? items : Array.from(items);
  const array: unknown[] = [];
  for await (const item of iterable as AsyncIterable<T>) array.push(await map(item, array.length));
  return array;
}
Object.defineProperty(Array, "fromAsync", { value: fromAsync, configurable: true, writable: true });
