// `AbortController` and `AbortSignal`.

import { setTimeout } from "./timers.ts";

type Listener = (event: { type: "abort"; target: AbortSignal }) => void;

class AbortError extends Error {
  override name = "AbortError";
}

class TimeoutError extends Error {
  override name = "TimeoutError";
}

let abort: (signal: AbortSignal, reason: unknown) => void;

export class AbortSignal {
  #aborted = false;
  #reason: unknown;
  #listeners = new Set<Listener>();
  onabort: Listener | null = null;

  static {
    abort = (signal, reason) => {
      if (signal.#aborted) return;
      signal.#aborted = true;
      signal.#reason = reason;
      const event = { type: "abort", target: signal } as const;
      signal.onabort?.(event);
      for (const listener of signal.#listeners) listener(event);
      signal.#listeners.clear();
    };
  }

  get aborted(): boolean {
    return this.#aborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  throwIfAborted(): void {
    if (this.#aborted) throw this.#reason;
  }

  addEventListener(_: "abort", listener: Listener): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_: "abort", listener: Listener): void {
    this.#listeners.delete(listener);
  }

  static abort(reason: unknown = new AbortError("the operation was aborted")): AbortSignal {
    const signal = new AbortSignal();
    abort(signal, reason);
    return signal;
  }

  static timeout(milliseconds: number): AbortSignal {
    const signal = new AbortSignal();
    setTimeout(() => abort(signal, new TimeoutError(`the operation took more than ${milliseconds} ms`)), milliseconds);
    return signal;
  }

  static any(signals: Iterable<AbortSignal>): AbortSignal {
    const any = new AbortSignal();
    for (const signal of signals) {
      if (signal.aborted) abort(any, signal.reason);
      else signal.addEventListener("abort", () => abort(any, signal.reason));
    }
    return any;
  }
}

export class AbortController {
  readonly signal: AbortSignal = new AbortSignal();

  abort(reason: unknown = new AbortError("the operation was aborted")): void {
    abort(this.signal, reason);
  }
}
