// The jobs of promises and what a call waits for. An engine in a component is called synchronously and runs no event
// loop of its own, so the SDK runs this one until a tool's promise is settled.

type Job = () => void;

let jobs: Job[] = [];

/** What was thrown where nobody can catch it. */
const uncaught: unknown[] = [];

/** Promises that were rejected and that nobody handles yet, with their reasons. */
const unhandled = new Map<object, unknown>();

/** Waits until something that was asked for is there, and runs what follows. False: nothing was asked for. */
export type Wait = () => boolean;

let wait: Wait | undefined;

/** Says how to wait. Only a plugin that uses timers or requests waits at all. */
export function waitWith(how: Wait): void {
  wait = how;
}

/** Runs a job when the code that runs now has ended. */
export function enqueue(job: Job): void {
  jobs.push(job);
}

/** Runs a callback; what it throws is kept for the end of the call. */
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

/** A promise that nothing can settle any more. */
export class NeverSettled extends Error {
  override name = "NeverSettled";
}

/** Something that was thrown, or a promise that was rejected, where nobody looked. */
export class Uncaught extends Error {
  override name = "Uncaught";
  constructor(readonly reason: unknown) {
    super();
  }
}

/** Calls a function, and waits until what it promises is settled. */
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
