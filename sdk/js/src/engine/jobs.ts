// The event loop: the jobs of promises, and what a call waits for. The host calls an engine in a component
// synchronously, and the engine runs no event loop. The SDK runs this one until a tool's promise is settled.

type Job = () => void;

let jobs: Job[] = [];

/** Errors that were thrown where no code can catch them. */
const uncaught: unknown[] = [];

/** Rejected promises without a handler so far, with their reasons. */
const unhandled = new Map<object, unknown>();

/** Waits until a pollable is ready and runs its callback. Returns false if there is nothing to wait for. */
export type Wait = () => boolean;

let wait: Wait | undefined;

/** Sets how the loop waits. Only plugins that use timers or requests set it. */
export function waitWith(how: Wait): void {
  wait = how;
}

/** Queues a job to run after the current code has ended. */
export function enqueue(job: Job): void {
  jobs.push(job);
}

/** Runs a callback. What it throws is kept, and ends the call later. */
export function runUncaught(callback: Job): void {
  try {
    callback();
  } catch (error) {
    uncaught.push(error);
  }
}

export function addUnhandled(promise: object, reason: unknown): void {
  unhandled.set(promise, reason);
}

export function removeUnhandled(promise: object): void {
  unhandled.delete(promise);
}

function runJobs(): void {
  while (jobs.length > 0) {
    const batch = jobs;
    jobs = [];
    for (const job of batch) job();
  }
}

/** The error for a promise that can no longer be settled. */
export class NeverSettled extends Error {
  override name = "NeverSettled";
}

/** A thrown error that no code caught, or a rejected promise without a handler. */
export class Uncaught extends Error {
  override name = "Uncaught";
  constructor(readonly reason: unknown) {
    super();
  }
}

/** Calls a function and waits until the promise that it returns is settled. */
export function complete<T>(work: () => T | PromiseLike<T>): T {
  let outcome: { value: T } | { error: unknown } | undefined;
  new Promise<T>((resolve) => resolve(work())).then(
    (value) => (outcome = { value }),
    (error: unknown) => (outcome = { error }),
  );
  for (;;) {
    runJobs();
    if (outcome !== undefined) break;
    if (uncaught.length > 0) throw new Uncaught(uncaught[0]);
    if (wait === undefined || !wait()) {
      throw new NeverSettled("the tool waits for a promise that nothing will settle");
    }
  }
  if ("error" in outcome) throw outcome.error;
  if (uncaught.length > 0) throw new Uncaught(uncaught[0]);
  for (const reason of unhandled.values()) throw new Uncaught(reason);
  return outcome.value;
}
