// The clocks: an engine's own stand still at the moment of the build.

import { now as monotonicNow } from "wasi:clocks/monotonic-clock";
import { now as wallNow } from "wasi:clocks/wall-clock";

const NANOSECONDS = 1e6;

function milliseconds(): number {
  const { seconds, nanoseconds } = wallNow();
  return Number(seconds) * 1000 + Math.floor(nanoseconds / NANOSECONDS);
}

/** `Date`, with the time of the host. Its prototype is the engine's, so that `instanceof` works. */
export const Date: DateConstructor = /* @__PURE__ */ new Proxy(globalThis.Date, {
  construct: (target, input, newTarget) =>
    Reflect.construct(target, input.length === 0 ? [milliseconds()] : input, newTarget),
  apply: (target) => new target(milliseconds()).toString(),
  get: (target, key, receiver) => (key === "now" ? milliseconds : Reflect.get(target, key, receiver)),
});

let origin: number | undefined;

function elapsed(): number {
  const time = Number(monotonicNow()) / NANOSECONDS;
  origin ??= time;
  return time - origin;
}

/** `performance`: milliseconds since the first question. */
export const performance = {
  now: elapsed,
  get timeOrigin(): number {
    return milliseconds() - elapsed();
  },
};
