// The running call, as its tool sees it.

import { ask as askHost, current, isCancelled, keep as keepOnHost, report } from "portcullis:tool/context";
import { Cancelled, Denied, Failed, payload } from "./failure.ts";
import type { FilePart } from "./output.ts";
import { kindOf, sendable, sendableBytes, sendableIfAny, sendableJson } from "./sendable.ts";

/** A permission that a tool can declare, and that `ask` can request. */
export type Permission = "read" | "write" | "execute" | "network";

/** The caller and the identifiers of a call. */
export interface Call {
  readonly id: string;
  readonly session: string;
  /** The conversation message that requested the call, if the caller named one. */
  readonly message: string | null;
  /** The agent that requested the call, if the caller named one. */
  readonly agent: string | null;
}

/** The progress of a call. An absent field keeps its last value. */
export interface Progress {
  title?: string;
  metadata?: Record<string, unknown>;
  /** From 0 to 1. */
  fraction?: number;
}

/** The running call. */
export interface Context {
  readonly call: Call;
  /** Whether the call is cancelled. The host stops a cancelled call shortly after. */
  readonly cancelled: boolean;
  /** Throws `Cancelled` if the call is cancelled. */
  throwIfCancelled(): void;
  /** Reports the progress of the call. */
  progress(update: Progress): void;
  /**
   * Asks the policy or an approver to permit an action. Throws `Denied` if the action is not permitted.
   * The permission must be one that the tool declares.
   */
  ask(question: { permission: Permission; resource: string; reason: string }): void;
  /**
   * Keeps a file for people beside the answer, such as a transcript. The caller gets its name, media type and size, and
   * a reference to read it with. Only a call that succeeds keeps its files. A tool cannot keep files beside a text that
   * it writes with `answerWriter`, or beside JSON with an output schema. Throws `Failed` if the host does not keep the
   * file.
   */
  keep(file: FilePart): void;
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

  keep({ name, mediaType, data }) {
    const file = {
      name: sendableIfAny(name, "a file name") ?? null,
      mediaType: sendable(mediaType, "a media type"),
      data: sendableBytes(data, "what a file holds"),
    };
    try {
      keepOnHost(file);
    } catch (error) {
      throw new Failed(String(payload(error) ?? error), { cause: error });
    }
  },
};
