// Waits for several pollables of the host at once: timers, responses, bodies.

import { type Pollable, poll } from "wasi:io/poll";
import { runUncaught, waitWith } from "./jobs.ts";

interface Waiting {
  pollable: Pollable;
  /** The order of callbacks that are ready at the same time. For a timer, its due time. */
  order: number;
  then: () => void;
}

let waiting: Waiting[] = [];

waitWith(() => {
  if (waiting.length === 0) return false;
  const ready = new Set(poll(waiting.map((one) => one.pollable)));
  const run = waiting.filter((_, index) => ready.has(index)).sort((a, b) => a.order - b.order);
  for (const one of run) {
    // An earlier callback may have cancelled this one.
    if (!waiting.includes(one)) continue;
    forget(one);
    runUncaught(one.then);
  }
  return true;
});

/** Runs a callback once the pollable is ready. */
export function when(pollable: Pollable, then: () => void, order = 0): Waiting {
  const one = { pollable, order, then };
  waiting.push(one);
  return one;
}

/** Cancels a callback. */
export function forget(one: Waiting): void {
  waiting = waiting.filter((other) => other !== one);
  one.pollable[Symbol.dispose]();
}

/** Returns a promise that is fulfilled once the pollable is ready. */
export function ready(pollable: Pollable): Promise<void> {
  return new Promise((resolve) => void when(pollable, resolve));
}
