// The timers of `console`. They have their own module so that a plugin that only prints does not import a clock.

import { performance } from "./clock.ts";
import { console } from "./console.ts";

const started = new Map<string, number>();

export function time(label = "default"): void {
  started.set(label, performance.now());
}

export function timeLog(label = "default", ...values: unknown[]): void {
  const start = started.get(label);
  if (start === undefined) console.warn(`there is no timer ${label}`);
  else console.log(`${label}: ${(performance.now() - start).toFixed(3)} ms`, ...values);
}

export function timeEnd(label = "default"): void {
  timeLog(label);
  started.delete(label);
}
