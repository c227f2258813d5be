/** The tools that need something of their client: a form, a completion of a model, or its folders. */

import { setTimeout as sleep } from "node:timers/promises";

import { inputRequired } from "./packages.mjs";
import { LONG, tool } from "./tools.mjs";

const form = (message, properties) =>
  inputRequired.elicit({ message, requestedSchema: { type: "object", properties, required: Object.keys(properties) } });
const completion = (prompt) =>
  inputRequired.createMessage({
    messages: [{ role: "user", content: { type: "text", text: prompt } }],
    maxTokens: 100,
  });

const NAME = form("What is your name?", { name: { type: "string" } });
const CONFIRM = form("Please confirm", { ok: { type: "boolean" } });

/** A form whose fields have defaults. */
const DEFAULTS = inputRequired.elicit({
  message: "Review the form",
  requestedSchema: {
    type: "object",
    properties: {
      name: { type: "string", default: "John Doe" },
      age: { type: "integer", default: 30 },
      score: { type: "number", default: 95.5 },
      status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
      verified: { type: "boolean", default: true },
    },
  },
});

/** A form with every kind of choice. */
const CHOICES = inputRequired.elicit({
  message: "Select options",
  requestedSchema: {
    type: "object",
    properties: {
      untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
      titledSingle: { type: "string", oneOf: [{ const: "value1", title: "First" }, { const: "value2", title: "Second" }] },
      legacyEnum: { type: "string", enum: ["opt1", "opt2"], enumNames: ["Option One", "Option Two"] },
      untitledMulti: { type: "array", items: { type: "string", enum: ["option1", "option2"] } },
      titledMulti: { type: "array", items: { anyOf: [{ const: "value1", title: "First" }, { const: "value2", title: "Second" }] } },
    },
  },
});

/** Returns a tool that needs some replies, and answers with all of them. It asks for them after a while. */
function asking(name, inputRequests, { requestState, wait = 0 } = {}) {
  const run = async (_, { mcpReq }) => {
    const replies = mcpReq.inputResponses;
    if (replies !== undefined) return { content: [{ type: "text", text: `Replies: ${JSON.stringify(replies)}` }] };
    await sleep(wait);
    return inputRequired({ inputRequests, requestState });
  };
  return tool(name, "Needs something of its client.", run);
}

/** Returns a tool that needs two replies, one after the other. */
function askingTwice(name, first, second) {
  const run = (_, { mcpReq }) => {
    const round = mcpReq.requestState() ?? "first";
    if (mcpReq.inputResponses === undefined) return inputRequired({ inputRequests: { step1: first }, requestState: "1" });
    if (round === "1") return inputRequired({ inputRequests: { step2: second }, requestState: "2" });
    return { content: [{ type: "text", text: "Both steps are done." }] };
  };
  return tool(name, "Needs two things of its client.", run);
}

export const questions = [
  asking("test_sampling", { completion: completion("What is the capital of France?") }),
  asking("test_elicitation", { response: form("Please answer", { response: { type: "string" } }) }),
  asking("test_elicitation_sep1034_defaults", { form: DEFAULTS }),
  asking("test_elicitation_sep1330_enums", { form: CHOICES }),
  asking("test_input_required_result_elicitation", { user_name: NAME }),
  asking("test_input_required_result_sampling", { sample_request: completion("What is the capital of France?") }),
  asking("test_input_required_result_list_roots", { roots_request: inputRequired.listRoots() }),
  asking("test_input_required_result_request_state", { confirm: CONFIRM }, { requestState: "confirm" }),
  asking(
    "test_input_required_result_multiple_inputs",
    { user_name: NAME, greeting: completion("Generate a greeting"), client_roots: inputRequired.listRoots() },
    { requestState: "inputs" },
  ),
  askingTwice("test_input_required_result_multi_round", NAME, form("Which color?", { color: { type: "string" } })),
  asking("test_input_required_result_tampered_state", { confirm: CONFIRM }, { requestState: "confirm" }),
  asking("test_input_required_result_capabilities", { elicit_input: NAME }),
  asking("test_missing_capability", { completion: completion("What is the capital of France?") }),
  asking("test_streaming_elicitation", { user_name: NAME }),
  asking("test_tool_with_task", { user_name: NAME }),
  asking("confirm_delete", { confirm: CONFIRM }, { wait: LONG }),
  asking("multi_input", { name: NAME, confirm: CONFIRM }, { wait: LONG }),
];
