// Tools of other plugins that the policy lets this plugin call.

import { openTools, type Toolset as Handle } from "portcullis:tool/tools";
import type { Callable, Failure as HostFailure, HostPart, Outlook as HostOutlook } from "portcullis:tool/tools";
import type { Success, Summary } from "portcullis:tool/tools";
import type { Permission } from "./context.ts";
import { Cancelled, Denied, Failed, type Failure, InvalidArguments, payload, Unavailable } from "./failure.ts";
import { noHandle } from "./handles.ts";
import { Answer, type Extras, type Part } from "./output.ts";
import { kindOf, sendable, sendableJson } from "./sendable.ts";
import type { Hint } from "./tool.ts";

/** Default maximum of results of a search: what a model or an author reads at once. */
const RESULTS_MAX = 10;
/** The largest limit that the contract can express. */
const U32_MAX = 0xffff_ffff;

/** The names of the contract's flags in JavaScript. */
const PERMISSIONS = { read: "read", write: "write", execute: "execute", network: "network" } as const;
const HINTS = {
  readOnly: "read-only",
  destructive: "destructive",
  idempotent: "idempotent",
  openWorld: "open-world",
  sequential: "sequential",
} as const;

/** A tool in a list. */
export interface ToolSummary {
  /** The full name, such as `files.read`. */
  readonly name: string;
  /** A few words for people. */
  readonly title: string | null;
  /** What the tool does. The text of another plugin: not to be trusted. */
  readonly description: string;
}

/** The definition of a tool of another plugin. */
export interface CallableTool extends ToolSummary {
  /** JSON Schema 2020-12 of the arguments. */
  readonly schema: Record<string, unknown>;
  /** JSON Schema 2020-12 of the output, if the tool returns JSON. */
  readonly outputSchema: Record<string, unknown> | null;
  /** The permissions that the tool may use. */
  readonly permissions: readonly Permission[];
  /** What the author of the tool claims. */
  readonly hints: readonly Hint[];
}

/** A call of a tool of another plugin. */
export interface ToolCall {
  /** The full name, such as `files.read`. */
  tool: string;
  /** The arguments by name. */
  arguments?: object | undefined;
}

/** The answer of a tool of another plugin. A tool can return it as its own answer. */
export class ToolAnswer extends Answer {
  /** The output as text: a text itself, a JSON document as it is written, and of parts their texts. */
  get text(): string {
    if (this.output.tag !== "parts") return this.output.val;
    return this.output.val.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  }

  /** The output as a value: a text itself, a parsed JSON document, or a list of parts. */
  get value(): unknown {
    return this.output.tag === "json" ? JSON.parse(this.output.val) : this.output.val;
  }
}

/** What the host would do with a call. A failure says that the call would fail like this. */
export type Outlook = "runs" | "needs-approval" | Failure;

/**
 * The tools that the policy binds to a key. Each call takes all the steps of a call by a caller: the host checks,
 * decides, limits and records it, and asks an approver where the policy says so.
 */
export interface Toolset {
  /** Returns the tools that a call could reach now, sorted by name. */
  list(): ToolSummary[];
  /** Returns the tools that fit a need best, the best first. `query` describes the need in words. `limit` is 10. */
  search(query: string, limit?: number): ToolSummary[];
  /** Returns the definition of a tool, or `null` if no call could reach it. */
  definition(tool: string): CallableTool | null;
  /**
   * Calls a tool and waits for its answer. The time of the tool counts for this call. The time in which it waits for an
   * approver or for its turn does not.
   *
   * Throws a `Failure` if the host refused the call, or if the tool failed. The text is for the model.
   */
  call(tool: string, input?: object): ToolAnswer;
  /**
   * Calls several tools at the same time, and returns their answers in order. A failed call has its failure in place of
   * the answer. A tool that may change something runs alone.
   */
  callAll(calls: readonly ToolCall[]): (ToolAnswer | Failure)[];
  /** Returns what the host would do with each call now, at most 100. Nothing runs, and no approver is asked. */
  foresee(calls: readonly ToolCall[]): Outlook[];
  /**
   * Asks an approver about calls together before they are made, at most 100. The approver reads the exact arguments of
   * each, and approves all, some or none. Returns for each call whether it can now be made without a request of its
   * own.
   *
   * Each approval counts once, for exactly these arguments, until this call ends. A call that the approver did not
   * approve fails when it is made. The host does not ask about a single call, or where no approver can answer now.
   */
  approve(calls: readonly ToolCall[]): boolean[];
}

/** Opens the tools of a dependency key. Nothing is called yet. */
export function tools(key: string): Toolset {
  let handle: Handle;
  try {
    handle = openTools(sendable(key, "the key of a set of tools"));
  } catch (error) {
    throw noHandle("set of tools", key, error);
  }
  return {
    list: () => handle.list().map(summaryOf),
    search: (query, limit = RESULTS_MAX) => handle.search(sendable(query, "the query"), checked(limit)).map(summaryOf),
    definition(tool) {
      const found = handle.definition(sendable(tool, "the name of a tool"));
      return found === null || found === undefined ? null : definitionOf(found);
    },
    call(tool, input = {}) {
      const call = callOf({ tool, arguments: input });
      let success: Success;
      try {
        success = handle.call(call);
      } catch (error) {
        const failure = payload(error);
        throw failure === undefined ? error : failureOf(failure as HostFailure);
      }
      return answerOf(success);
    },
    callAll(calls) {
      const results = handle.callAll(calls.map(callOf));
      return results.map((result) => (result.tag === "ok" ? answerOf(result.val) : failureOf(result.val)));
    },
    foresee: (calls) => handle.foresee(calls.map(callOf)).map(outlookOf),
    approve: (calls) => Array.from(handle.approve(calls.map(callOf)), Boolean),
  };
}

/** Returns the limit of a search. The engine would convert a number that the contract cannot express. */
function checked(limit: number): number {
  if (typeof limit !== "number" || !(limit >= 0)) {
    throw new TypeError("the limit of a search has to be a number from 0 on");
  }
  return Math.min(Math.floor(limit), U32_MAX);
}

function callOf({ tool, arguments: input = {} }: ToolCall): { tool: string; arguments: string } {
  const name = sendable(tool, "the name of a tool");
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    throw new TypeError(`the arguments of ${name} have to be an object, and are ${kindOf(input)}`);
  }
  return { tool: name, arguments: sendableJson(input, `the arguments of ${name}`) };
}

function outlookOf(outlook: HostOutlook): Outlook {
  return outlook.tag === "fails" ? failureOf(outlook.val) : outlook.tag;
}

function summaryOf({ name, title, description }: Summary): ToolSummary {
  return { name, title: title ?? null, description };
}

function definitionOf(tool: Callable): CallableTool {
  const { outputSchema } = tool;
  return {
    ...summaryOf(tool),
    schema: JSON.parse(tool.schema),
    outputSchema: outputSchema === null || outputSchema === undefined ? null : JSON.parse(outputSchema),
    permissions: setOf(tool.permissions, PERMISSIONS),
    hints: setOf(tool.hints, HINTS),
  };
}

/** Returns the words of the flags that are set. */
function setOf<W extends string>(flags: Record<string, boolean>, names: Readonly<Record<string, W>>): W[] {
  return Object.entries(names).flatMap(([flag, word]) => (flags[flag] === true ? [word] : []));
}

function answerOf({ title, output, metadata }: Success): ToolAnswer {
  const extras: Extras = {};
  if (title !== null && title !== undefined) extras.title = title;
  if (metadata !== null && metadata !== undefined) extras.metadata = JSON.parse(metadata);
  return new ToolAnswer(output.tag === "parts" ? { tag: "parts", val: output.val.map(partOf) } : output, extras);
}

function partOf(part: HostPart): Part {
  if (part.tag === "text") return { type: "text", text: part.val };
  const { name, mediaType, data } = part.val;
  return { type: part.tag, mediaType, data, name: name ?? undefined };
}

function failureOf(failure: HostFailure): Failure {
  switch (failure.tag) {
    case "invalid-arguments":
      return new InvalidArguments(failure.val);
    case "denied":
      return new Denied(failure.val);
    case "unavailable": {
      // A failure of this SDK has no field for the time, and the model needs it.
      const { message, retryAfterSeconds: seconds } = failure.val;
      const isKnown = seconds !== null && seconds !== undefined;
      return new Unavailable(isKnown ? `${message} Retry in ${seconds} seconds.` : message);
    }
    case "cancelled":
      return new Cancelled();
    case "failed":
      return new Failed(failure.val);
  }
}
