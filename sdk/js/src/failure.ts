// The failures of a call. Write each message for the model, and say what would help.

import { kindOf } from "./sendable.ts";

const KINDS = ["invalid-arguments", "denied", "unavailable", "cancelled", "failed"] as const;

/** The kinds of failure in the contract. */
export type FailureKind = (typeof KINDS)[number];

/** The base class of failures. Throw one of the classes below. */
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

/** Arguments that match the schema but are invalid. */
export class InvalidArguments extends Failure {
  constructor(message: string, options?: ErrorOptions) {
    super("invalid-arguments", message, options);
  }
}

/** A missing permission. */
export class Denied extends Failure {
  constructor(message: string, options?: ErrorOptions) {
    super("denied", message, options);
  }
}

/** A failure outside the tool. A later retry may succeed. */
export class Unavailable extends Failure {
  constructor(message: string, options?: ErrorOptions) {
    super("unavailable", message, options);
  }
}

/** The tool stopped because its call was cancelled. */
export class Cancelled extends Failure {
  constructor(message = "the call was cancelled") {
    super("cancelled", message);
  }
}

/** Any other failure. An error of another class that a tool throws becomes this one, with its name and message. */
export class Failed extends Failure {
  constructor(message: string, options?: ErrorOptions) {
    super("failed", message, options);
  }
}

/** Returns the name and message of an error, or describes another thrown value. Never throws. */
export function describe(error: unknown): string {
  for (const words of [wordsOf, String, kindOf]) {
    try {
      return words(error).toWellFormed();
    } catch {
      // The value has a method that throws, or cannot be converted to text.
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

/** Returns the payload of an error that the host raised. */
export function payload(error: unknown): unknown {
  return typeof error === "object" && error !== null && "payload" in error ? error.payload : undefined;
}
