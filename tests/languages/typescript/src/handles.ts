import { setting as settingOf, store, tool, Unavailable } from "portcullis-sdk";
import * as z from "zod";

export const fetchTool = tool({
  name: "fetch",
  description: "Sends one HTTP request and answers with what came back.",
  arguments: z.object({
    url: z.string().describe("Where the request goes."),
    method: z.string().default("GET").describe("Its method."),
    body: z.string().optional().describe("Its body."),
  }),
  requires: ["network"],
  hints: ["open-world"],
  async execute({ url, method, body }) {
    try {
      const response = await fetch(url, { method, body: body ?? null, headers: { "x-test": "conformance" } });
      return { status: response.status, type: response.headers.get("content-type"), body: await response.text() };
    } catch (error) {
      throw new Unavailable(`cannot fetch ${url}: ${error instanceof Error ? error.message : error}`);
    }
  },
});

export const remember = tool({
  name: "remember",
  description: "Keeps a value under a key.",
  arguments: z.object({
    key: z.string().describe("The key of the value."),
    value: z.unknown().describe("Any JSON."),
  }),
  requires: ["write"],
  hints: ["idempotent"],
  execute({ key, value }) {
    store("notes").setJson(key, value);
    return "remembered";
  },
});

export const recall = tool({
  name: "recall",
  description: "Answers with the value that was kept under a key.",
  arguments: z.object({ key: z.string().describe("The key of the value.") }),
  requires: ["read"],
  hints: ["read-only", "idempotent"],
  execute: ({ key }) => ({ value: store("notes").getJson(key) }),
});

export const setting = tool({
  name: "setting",
  description: "Answers with what the policy sets under a key.",
  arguments: z.object({ key: z.string().describe("The key of the setting.") }),
  hints: ["read-only", "idempotent"],
  execute: ({ key }) => ({ value: settingOf(key) }),
});
