// The clocks of the host.

import { now as monotonicNow } from "wasi:clocks/monotonic-clock";
import { now as wallNow } from "wasi:clocks/wall-clock";
import { dateWith, EngineDate, provide, put } from "../engine/hooks.ts";

const NANOSECONDS = 1e6;

function milliseconds(): number {
  const { seconds, nanoseconds } = wallNow();
  return Number(seconds) * 1000 + Math.floor(nanoseconds / NANOSECONDS);
}

/** Makes every `Date` ask the host. */
export function provideClock(): void {
  provide({ time: milliseconds });
}

/** `Date` with the host's time. The time is not available while the component is built. */
export const Date: DateConstructor = /* @__PURE__ */ hostDate();

function hostDate(): DateConstructor {
  provideClock();
  const date = dateWith(milliseconds);
  put(EngineDate.prototype, "constructor", date);
  return date;
}

let origin: number | undefined;

function elapsed(): number {
  const time = Number(monotonicNow()) / NANOSECONDS;
  origin ??= time;
  return time - origin;
}

/** `performance`. Its zero is the first reading. */
export const performance = {
  now: elapsed,
  get timeOrigin(): number {
    return milliseconds() - elapsed();
  },
};
