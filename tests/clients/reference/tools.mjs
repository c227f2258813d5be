/** The tools that answer by themselves. */

import { setTimeout as sleep } from "node:timers/promises";

import { ProtocolError, ProtocolErrorCode } from "./packages.mjs";

/** The image of one red pixel. */
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/** A sound file without samples. */
const WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";
/** The time between two reports about a call, in milliseconds. */
const STEP = 50;
/** The time of a long call, in milliseconds. It is longer than the gateway under test waits before it makes a task. */
export const LONG = 1000;

/** A schema with every kind of keyword of JSON Schema 2020-12. */
const RICH = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

const text = (text) => ({ type: "text", text });
const failed = (message) => ({ content: [text(message)], isError: true });
const image = { type: "image", data: PNG, mimeType: "image/png" };
const resource = (uri, mimeType, text) => ({ type: "resource", resource: { uri, mimeType, text } });

/** Returns a tool. Its arguments are those of a schema, or none. */
export function tool(name, description, run, inputSchema = { type: "object", properties: {} }) {
  return { definition: { name, description, inputSchema }, run };
}

/** Returns a tool with the same answer to every call. */
function constant(name, description, ...content) {
  return tool(name, description, () => ({ content }));
}

/** Reports progress three times. */
async function report(_, { mcpReq }) {
  const progressToken = mcpReq._meta?.progressToken;
  for (const progress of [0, 50, 100]) {
    if (progressToken === undefined) break;
    await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: 100 } });
    await sleep(STEP);
  }
  return { content: [text("Reported progress three times.")] };
}

/** Sends log messages. */
async function log(_, { mcpReq }) {
  for (const message of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
    await mcpReq.log("info", message);
    await sleep(STEP);
  }
  return { content: [text("Sent log messages.")] };
}

/** Computes for as many seconds as the arguments say, or until the call is cancelled. */
async function compute({ seconds, label }, { mcpReq }) {
  await sleep(seconds * 1000, undefined, { signal: mcpReq.signal });
  return { content: [text(`Computed ${label} in ${seconds} s.`)] };
}

/** Answers after a while. */
async function pause(milliseconds, result) {
  await sleep(milliseconds);
  return result;
}

export const tools = [
  constant("test_simple_text", "Returns text.", text("This is a simple text response for testing.")),
  constant("test_image_content", "Returns an image.", image),
  constant("test_audio_content", "Returns audio.", { type: "audio", data: WAV, mimeType: "audio/wav" }),
  constant(
    "test_embedded_resource",
    "Returns a resource.",
    resource("test://embedded-resource", "text/plain", "This is an embedded resource content."),
  ),
  constant(
    "test_multiple_content_types",
    "Returns text, an image and a resource.",
    text("Multiple content types test:"),
    image,
    resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
  ),
  tool("test_error_handling", "Always fails.", () => failed("This tool intentionally returns an error for testing")),
  tool("test_tool_with_progress", "Reports progress.", report),
  tool("test_tool_with_logging", "Sends log messages.", log),
  tool("test_logging_tool", "Sends log messages.", log),
  tool("test_reconnection", "Answers after a moment.", () => pause(STEP, { content: [text("Answered.")] })),
  tool("json_schema_2020_12_tool", "Has a schema with many keywords.", () => ({ content: [text("Valid.")] }), RICH),
  tool("test_x_mcp_header", "Has an argument that clients send in a header.", () => ({ content: [text("Looked.")] }), {
    type: "object",
    properties: { region: { type: "string", "x-mcp-header": "Region" } },
    required: ["region"],
  }),
  tool("greet", "Greets somebody.", ({ name }) => ({ content: [text(`Hello, ${name}!`)] }), {
    type: "object",
    properties: { name: { type: "string" } },
    required: ["name"],
  }),
  tool("slow_compute", "Computes for some seconds.", compute, {
    type: "object",
    properties: { seconds: { type: "integer" }, label: { type: "string" } },
    required: ["seconds"],
  }),
  tool("failing_job", "Fails after a while.", () => pause(LONG, failed("This job always fails."))),
  tool("protocol_error_job", "Ends after a while with an error of the protocol.", async () => {
    await sleep(LONG);
    throw new ProtocolError(ProtocolErrorCode.InternalError, "This job breaks.");
  }),
];
