// Timers. The call sleeps until the next one when it has nothing else to do.

import { now, subscribeDuration } from "wasi:clocks/monotonic-clock";
import { forget, when } from "../engine/pollables.ts";
import { u64 } from "../engine/engine.ts";

const NANOSECONDS = 1e6;

type Callback = (...input: any[]) => void;

const timers = new Map<number, ReturnType<typeof when>>();
let last = 0;

function start(id: number, delay: number, run: () => void): void {
  const nanoseconds = Math.max(0, delay || 0) * NANOSECONDS;
  const due = Number(now()) + nanoseconds;
  timers.set(id, when(subscribeDuration(u64(nanoseconds)), run, due));
}

export function setTimeout(callback: Callback, delay = 0, ...input: unknown[]): number {
  const id = ++last;
  start(id, delay, () => {
    timers.delete(id);
    callback(...input);
  });
  return id;
}

export function setInterval(callback: Callback, delay = 0, ...input: unknown[]): number {
  const id = ++last;
  const run = () => {
    // At least one millisecond, because with an interval of zero the call would never sleep.
    start(id, Math.max(1, delay), run);
    callback(...input);
  };
  start(id, delay, run);
  return id;
}

export function clearTimeout(id?: number): void {
  const timer = timers.get(id ?? 0);
  if (timer === undefined) return;
  timers.delete(id ?? 0);
  forget(timer);
}

export const clearInterval = clearTimeout;

export function setImmediate(callback: Callback, ...input: unknown[]): number {
  return setTimeout(callback, 0, ...input);
}
