// Promises whose jobs the SDK runs. The engine runs the jobs of its own promises after the component has returned,
// which is too late. The build turns `async` functions into generators over the global `Promise`, which is this one.

import { addUnhandled, enqueue, removeUnhandled } from "./jobs.ts";

type Settled = "fulfilled" | "rejected";
type Resolve<T> = (value: T | PromiseLike<T>) => void;
type Reject = (reason?: unknown) => void;

class LoopPromise<T> {
  #state: "pending" | Settled = "pending";
  #result: unknown;
  #reactions: (() => void)[] = [];
  #handled = false;

  constructor(executor: (resolve: Resolve<T>, reject: Reject) => void) {
    if (typeof executor !== "function") throw new TypeError("Promise resolver is not a function");
    const [resolve, reject] = this.#resolvers();
    try {
      executor(resolve, reject);
    } catch (error) {
      reject(error);
    }
  }

  /** Returns a pair of functions. Only the first call of either has an effect. */
  #resolvers(): [Resolve<T>, Reject] {
    let called = false;
    const once = (act: () => void) => {
      if (called) return;
      called = true;
      act();
    };
    return [(value) => once(() => this.#resolve(value)), (reason) => once(() => this.#settle("rejected", reason))];
  }

  #resolve(value: unknown): void {
    if (value === this) return this.#settle("rejected", new TypeError("a promise cannot wait for itself"));
    if ((typeof value !== "object" || value === null) && typeof value !== "function") {
      return this.#settle("fulfilled", value);
    }
    let then: unknown;
    try {
      then = (value as { then?: unknown }).then;
    } catch (error) {
      return this.#settle("rejected", error);
    }
    if (typeof then !== "function") return this.#settle("fulfilled", value);
    const [resolve, reject] = this.#resolvers();
    enqueue(() => {
      try {
        then.call(value, resolve, reject);
      } catch (error) {
        reject(error);
      }
    });
  }

  #settle(state: Settled, result: unknown): void {
    this.#state = state;
    this.#result = result;
    if (state === "rejected" && !this.#handled) addUnhandled(this, result);
    for (const reaction of this.#reactions) enqueue(reaction);
    this.#reactions = [];
  }

  then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: any) => B | PromiseLike<B>) | null,
  ): LoopPromise<A | B> {
    this.#handled = true;
    removeUnhandled(this);
    return new LoopPromise<A | B>((resolve, reject) => {
      const react = () => {
        const handler: unknown = this.#state === "fulfilled" ? onFulfilled : onRejected;
        if (typeof handler !== "function") {
          return this.#state === "fulfilled" ? resolve(this.#result as A) : reject(this.#result);
        }
        try {
          resolve(handler(this.#result));
        } catch (error) {
          reject(error);
        }
      };
      if (this.#state === "pending") this.#reactions.push(react);
      else enqueue(react);
    });
  }

  catch<B = never>(onRejected?: ((reason: any) => B | PromiseLike<B>) | null): LoopPromise<T | B> {
    return this.then(undefined, onRejected);
  }

  finally(onFinally?: (() => void) | null): LoopPromise<T> {
    if (typeof onFinally !== "function") return this.then();
    return this.then(
      (value) => LoopPromise.resolve(onFinally()).then(() => value),
      (reason) => LoopPromise.resolve(onFinally()).then(() => LoopPromise.reject(reason)),
    );
  }

  get [Symbol.toStringTag](): string {
    return "Promise";
  }

  static resolve<T>(value?: T | PromiseLike<T>): LoopPromise<T> {
    if (value instanceof LoopPromise) return value;
    return new LoopPromise((resolve) => resolve(value as T));
  }

  static reject<T = never>(reason?: unknown): LoopPromise<T> {
    return new LoopPromise((_, reject) => reject(reason));
  }

  static withResolvers<T>() {
    let resolve!: Resolve<T>;
    let reject!: Reject;
    const promise = new LoopPromise<T>((a, b) => ([resolve, reject] = [a, b]));
    return { promise, resolve, reject };
  }

  static try<T, A extends unknown[]>(work: (...input: A) => T | PromiseLike<T>, ...input: A): LoopPromise<T> {
    return new LoopPromise((resolve) => resolve(work(...input)));
  }

  static all<T>(values: Iterable<T | PromiseLike<T>>): LoopPromise<T[]> {
    return LoopPromise.#gather(values, (promise, put, _, reject) => promise.then(put, reject));
  }

  static allSettled<T>(values: Iterable<T | PromiseLike<T>>) {
    return LoopPromise.#gather<T, PromiseSettledResult<T>>(values, (promise, put) =>
      promise.then(
        (value) => put({ status: "fulfilled", value }),
        (reason) => put({ status: "rejected", reason }),
      ),
    );
  }

  static any<T>(values: Iterable<T | PromiseLike<T>>): LoopPromise<T> {
    const none = (reasons: unknown[]) => LoopPromise.reject(new AggregateError(reasons, "All promises were rejected"));
    return new LoopPromise((resolve, reject) => {
      const gathered = LoopPromise.#gather<T, unknown>(values, (promise, put) => promise.then(resolve, put));
      gathered.then(none).catch(reject);
    });
  }

  static race<T>(values: Iterable<T | PromiseLike<T>>): LoopPromise<T> {
    return new LoopPromise((resolve, reject) => {
      for (const value of values) LoopPromise.resolve(value).then(resolve, reject);
    });
  }

  /** Waits for all promises. `follow` stores the outcome of each at its index. */
  static #gather<T, R = T>(
    values: Iterable<T | PromiseLike<T>>,
    follow: (promise: LoopPromise<T>, put: (result: R) => void, index: number, reject: Reject) => void,
  ): LoopPromise<R[]> {
    return new LoopPromise((resolve, reject) => {
      const results: R[] = [];
      let open = 1;
      const close = () => {
        open -= 1;
        if (open === 0) resolve(results);
      };
      let count = 0;
      for (const value of values) {
        const index = count++;
        open += 1;
        const put = (result: R) => {
          results[index] = result;
          close();
        };
        follow(LoopPromise.resolve(value), put, index, reject);
      }
      close();
    });
  }
}

Object.defineProperty(LoopPromise, "name", { value: "Promise" });

export { LoopPromise };
