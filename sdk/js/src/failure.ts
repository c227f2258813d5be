// Why a tool could not answer. Each text is for the model, and says what would help.

import { kindOf } from "./sendable.ts";

const KINDS = ["invalid-arguments", "denied", "unavailable", "cancelled", "failed"] as const;

/** The kinds of failure that the contract has. */
export type FailureKind = (typeof KINDS)[number];

/** Ends a call with a failure of a kind. Throw one of the classes below. */
export class Failure extends Error {
  override name = "Failure";

  constructor(
    readonly kind: FailureKind,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    if (!KINDS.includes(kind)) throw new TypeError(`a failure is ${KINDS.join(", ")}, and not ${describe(kind)}`);
  }
}

/** The arguments match the schema and are wrong all the same. */
export class InvalidArguments extends Failure {
  constructor(message: string, options?: ErrorOptions) {
    super("invalid-arguments", message, options);
  }
}

/** A right was missing. */
export class Denied extends Failure {
  constructor(message: string, options?: ErrorOptions) {
    super("denied", message, options);
  }
}

/** Something outside of the tool did not work; trying again later may help. */
export class Unavailable extends Failure {
  constructor(message: string, options?: ErrorOptions) {
    super("unavailable", message, options);
  }
}

/** The tool stopped because nobody waits for its answer any more. */
export class Cancelled extends Failure {
  constructor(message = "the call was cancelled") {
    super("cancelled", message);
  }
}

/** Anything else. An error of another class that a tool throws becomes this, with its name and its message. */
export class Failed extends Failure {
  constructor(message: string, options?: ErrorOptions) {
    super("failed", message, options);
  }
}

/** What an error says, with its name; of anything else that was thrown, what it is. It never throws. */
export function describe(error: unknown): string {
  for (const words of [wordsOf, String, kindOf]) {
    try {
      return words(error).toWellFormed();
    } catch {
      // What was thrown has a method that throws, or is no text in this way.
    }
  }
  return "something was thrown that cannot be shown";
}

function wordsOf(error: unknown): string {
  if (error instanceof Error) {
    const name = error.name || "Error";
    return error.message === "" ? name : `${name}: ${error.message}`;
  }
  return typeof error === "string" ? error : (JSON.stringify(error) ?? String(error));
}

/** What the host gave as the reason of an error that it raised. */
export function payload(error: unknown): unknown {
  return typeof error === "object" && error !== null && "payload" in error ? error.payload : undefined;
}
