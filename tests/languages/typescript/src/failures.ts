import { report } from "portcullis:tool/context";
import { Cancelled, Denied, Failed, InvalidArguments, tool, Unavailable } from "portcullis-sdk";
import * as z from "zod";

export const fail = tool({
  name: "fail",
  description: "Ends with the failure that it is asked for.",
  arguments: z.object({
    kind: z.enum(["invalid-arguments", "denied", "unavailable", "cancelled", "failed"]).describe("The kind of failure."),
    message: z.string().describe("What the failure says."),
  }),
  hints: ["read-only", "idempotent"],
  execute({ kind, message }) {
    switch (kind) {
      case "invalid-arguments":
        throw new InvalidArguments(message);
      case "denied":
        throw new Denied(message);
      case "unavailable":
        throw new Unavailable(message);
      case "cancelled":
        throw new Cancelled();
      case "failed":
        throw new Failed(message);
    }
  },
});

export const throwTool = tool({
  name: "throw",
  description: "Throws an error that no code catches.",
  arguments: z.object({ message: z.string().describe("What the error says.") }),
  hints: ["read-only", "idempotent"],
  execute({ message }) {
    throw new Error(message);
  },
});

export const trap = tool({
  name: "trap",
  description: "Ends the instance with a trap.",
  arguments: z.object({}),
  hints: ["read-only", "idempotent"],
  execute() {
    // JavaScript has no abort, and the SDK gives the host what it takes. Without the SDK, QuickJS does not survive it
    // to hand over something of another type.
    report({ title: {} as string });
    return "the host took it";
  },
});

export const spin = tool({
  name: "spin",
  description: "Runs without end and never calls the host.",
  arguments: z.object({}),
  hints: ["read-only", "idempotent"],
  execute() {
    for (;;);
  },
});

export const hog = tool({
  name: "hog",
  description: "Takes memory without end and writes to it.",
  arguments: z.object({}),
  hints: ["read-only", "idempotent"],
  execute() {
    const taken: Uint8Array[] = [];
    for (;;) taken.push(new Uint8Array(1 << 20).fill(1));
  },
});

export const recurse = tool({
  name: "recurse",
  description: "Calls itself without end.",
  arguments: z.object({}),
  hints: ["read-only", "idempotent"],
  execute() {
    const deeper = (depth: number): number => deeper(depth + 1) + 1;
    return deeper(0);
  },
});

export const late = tool({
  name: "late",
  description: "Rejects a promise that no code awaits.",
  arguments: z.object({ message: z.string().default("late").describe("What the error says.") }),
  hints: ["read-only", "idempotent"],
  execute({ message }) {
    void Promise.reject(new Error(message));
    return "done";
  },
});
