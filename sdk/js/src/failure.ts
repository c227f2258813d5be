// Why a tool could not answer. Each text is for the model, and says what would help.

/** The kinds of failure that the contract has. */
export type FailureKind = "invalid-arguments" | "denied" | "unavailable" | "cancelled" | "failed";

/** Ends a call with a failure of a kind. Throw one of the classes below. */
export class Failure extends Error {
  override name = "Failure";

  constructor(
    readonly kind: FailureKind,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
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

/** What an error says, with its name; of anything else that was thrown, what it is. */
export function describe(error: unknown): string {
  if (error instanceof Error) {
    const name = error.name || "Error";
    return error.message === "" ? name : `${name}: ${error.message}`;
  }
  if (typeof error === "string") return error;
  try {
    return JSON.stringify(error) ?? String(error);
  } catch {
    return String(error);
  }
}

/** What the host gave as the reason of an error that it raised. */
export function payload(error: unknown): unknown {
  return typeof error === "object" && error !== null && "payload" in error ? error.payload : undefined;
}
