import { text, tool } from "portcullis-sdk";
import * as z from "zod";

export const echo = tool({
  name: "echo",
  description: "Answers with the value that it is given, as JSON.",
  arguments: z.object({ value: z.unknown().describe("Any JSON.") }),
  hints: ["read-only", "idempotent"],
  execute: ({ value }) => ({ value }),
});

export const reverse = tool({
  name: "reverse",
  description: "Answers with the characters of a text in reverse order.",
  arguments: z.object({ text: z.string().describe("The text to reverse.") }),
  hints: ["read-only", "idempotent"],
  execute({ text: given }) {
    const characters = [...given].reverse();
    return text(characters.join(""), { title: "Reversed", metadata: { characters: characters.length } });
  },
});

export const repeat = tool({
  name: "repeat",
  description: "Answers with a text as often as it is asked to.",
  arguments: z.object({
    text: z.string().describe("The text to repeat."),
    times: z.int().min(0).max(10_000_000).describe("How often it is repeated."),
  }),
  hints: ["read-only", "idempotent"],
  execute: ({ text: given, times }) => given.repeat(times),
});

export const measure = tool({
  name: "measure",
  description: "Counts the bytes of a text in UTF-8 and its characters.",
  arguments: z.object({ text: z.string().describe("The text to measure.") }),
  hints: ["read-only", "idempotent"],
  execute({ text: given }) {
    let characters = 0;
    for (const _ of given) characters += 1;
    return { bytes: new TextEncoder().encode(given).length, characters };
  },
});

export const add = tool({
  name: "add",
  description: "Adds two integers.",
  arguments: z.object({
    a: z.int().describe("The first number."),
    b: z.int().describe("The second number."),
    note: z.string().optional().describe("What comes back with the sum."),
    kind: z.enum(["exact", "rounded"]).default("exact").describe("What kind of sum is asked for."),
  }),
  output: z.object({
    sum: z.number().describe("The sum."),
    kind: z.enum(["exact", "rounded"]).describe("The kind that was asked for."),
    note: z.string().optional().describe("What was given with the numbers."),
  }),
  hints: ["read-only", "idempotent"],
  execute: ({ a, b, note, kind }) => ({ sum: a + b, kind, ...(note === undefined ? {} : { note }) }),
});
