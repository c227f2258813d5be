// What has to be in place before a plugin's first line runs. It imports nothing of the host.

import "./hooks.ts";
import { enqueue, runUncaught } from "./jobs.ts";
import { LoopPromise } from "./promise.ts";

globalThis.Promise = LoopPromise as unknown as PromiseConstructor;
globalThis.queueMicrotask = (callback) => enqueue(() => runUncaught(callback));

// zod would compile a parser for each schema in every call, for the one value that it parses there.
(globalThis as { __zod_globalConfig?: { jitless: boolean } }).__zod_globalConfig = { jitless: true };

/** `Array.fromAsync` of the engine would make a promise of the engine. */
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
