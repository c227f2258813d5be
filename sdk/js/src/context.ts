// The call that is running, as its tool may see it.

import { ask as askHost, current, isCancelled, report } from "portcullis:tool/context";
import { Cancelled, Denied, payload } from "./failure.ts";
import { kindOf, sendable, sendableIfAny, sendableJson } from "./sendable.ts";

/** What a tool may need. Also the name of the right that `ask` asks for. */
export type Permission = "read" | "write" | "execute" | "network";

/** Who asked for the call, and which one it is. */
export interface Call {
  readonly id: string;
  readonly session: string;
  /** The message of the conversation that asked, where the caller named it. */
  readonly message: string | null;
  /** The agent that asked, where the caller named it. */
  readonly agent: string | null;
}

/** How far a call has come. What is left out stays as it was. */
export interface Progress {
  title?: string;
  metadata?: Record<string, unknown>;
  /** From 0 to 1. */
  fraction?: number;
}

/** The call that is running. */
export interface Context {
  readonly call: Call;
  /** Whether nobody waits for the answer any more. The host stops the call a short while after. */
  readonly cancelled: boolean;
  /** Throws `Cancelled` when nobody waits for the answer any more. */
  throwIfCancelled(): void;
  /** Reports how far the call has come. */
  progress(update: Progress): void;
  /**
   * Asks the policy or a person whether something may be done. Throws `Denied` where it may not.
   * The permission is one of the tool's own.
   */
  ask(question: { permission: Permission; resource: string; reason: string }): void;
}

export const context: Context = {
  get call() {
    const { id, session, message, agent } = current();
    return { id, session, message: message ?? null, agent: agent ?? null };
  },

  get cancelled() {
    return isCancelled();
  },

  throwIfCancelled() {
    if (isCancelled()) throw new Cancelled();
  },

  progress({ title, metadata, fraction }) {
    if (fraction !== undefined && typeof fraction !== "number") {
      throw new TypeError(`the fraction has to be a number, and is ${kindOf(fraction)}`);
    }
    report({
      title: sendableIfAny(title, "the title"),
      metadata: metadata && sendableJson(metadata, "the metadata"),
      fraction,
    });
  },

  ask({ permission, resource, reason }) {
    const right = sendable(permission, "the permission");
    const [what, why] = [sendable(resource, "the resource"), sendable(reason, "the reason")];
    try {
      askHost(right, what, why);
    } catch (error) {
      throw new Denied(String(payload(error) ?? error), { cause: error });
    }
  },
};
