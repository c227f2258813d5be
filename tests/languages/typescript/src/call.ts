import { Cancelled, log, tool } from "portcullis-sdk";
import * as z from "zod";

/** How often the host is asked whether the call was cancelled, in milliseconds. */
const POLL_MS = 10;
/** When waiting ends without that, in milliseconds. */
const WAIT_MS_MAX = 20_000;

export const progress = tool({
  name: "progress",
  description: "Reports progress step by step.",
  arguments: z.object({ steps: z.int().min(1).max(100).describe("How many steps there are.") }),
  hints: ["read-only", "idempotent"],
  execute({ steps }, context) {
    for (let step = 1; step <= steps; step++) {
      context.progress({ title: `step ${step}`, fraction: step / steps, metadata: { step } });
    }
    return "done";
  },
});

export const wait = tool({
  name: "wait",
  description: "Waits until the call is cancelled.",
  arguments: z.object({}),
  hints: ["read-only", "idempotent"],
  async execute(_, context) {
    const start = performance.now();
    while (performance.now() - start < WAIT_MS_MAX) {
      if (context.cancelled) {
        log("info", "the call is cancelled");
        throw new Cancelled();
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    return "not cancelled";
  },
});

export const context = tool({
  name: "context",
  description: "Answers with what the host says of the call.",
  arguments: z.object({}),
  hints: ["read-only", "idempotent"],
  execute: (_, { call }) => call,
});

export const ask = tool({
  name: "ask",
  description: "Asks in the middle of the call whether something may be done.",
  arguments: z.object({
    permission: z.enum(["read", "write", "execute", "network"]).describe("The permission that is asked for."),
    resource: z.string().describe("What it is asked for."),
    reason: z.string().describe("Why it is asked for."),
  }),
  requires: ["write"],
  execute({ permission, resource, reason }, context) {
    context.ask({ permission, resource, reason });
    return "yes";
  },
});
