// The component's export. Describes the plugin, and runs one tool. Each call has its own instance, unless the policy
// keeps the instance for a session.

import { closeWhatIsOpen } from "./after-call.ts";
import { context } from "./context.ts";
import { beginCall } from "./engine/hooks.ts";
import { complete, NeverSettled, Uncaught } from "./engine/jobs.ts";
import { describe, Failure } from "./failure.ts";
import { setManifest } from "./manifest.ts";
import { type Answer, answer, json, type Part } from "./output.ts";
import { checkPlugin } from "./check.ts";
import { argumentsSchema, outputSchema, parse } from "./schema.ts";
import { sendable, sendableBytes, sendableIfAny, sendableJson } from "./sendable.ts";
import type { Plugin, Tool } from "./tool.ts";

/** The `failure` variant of the contract. */
class Refusal {
  constructor(readonly payload: { tag: string; val?: unknown }) {}
}

/** Creates the component's export from a plugin. The description is created during the build. */
export function handler(plugin: Plugin) {
  checkPlugin(plugin);
  setManifest(plugin);
  const manifest = manifestOf(plugin);
  return {
    describe: () => manifest,
    executeRaw(name: string, input: string) {
      beginCall();
      try {
        return success(complete(() => execute(plugin, name, input)));
      } catch (error) {
        throw refusal(error);
      } finally {
        closeWhatIsOpen();
      }
    },
  };
}

async function execute(plugin: Plugin, name: string, input: string): Promise<Answer> {
  const tool = plugin.tools.find((tool) => tool.name === name);
  if (tool === undefined) throw new Failure("invalid-arguments", `there is no tool ${name}`);
  const value = await parse(tool.arguments, JSON.parse(input));
  const returned = await tool.execute(value, context);
  // The host validates only JSON against a schema. It refuses text from a tool that has one.
  const isText = typeof returned === "string";
  return isText && tool.output !== undefined ? json(returned) : answer(returned);
}

function success({ output, extras }: Answer) {
  return {
    title: sendableIfAny(extras.title, "the title") ?? null,
    output: { tag: output.tag, val: output.tag === "parts" ? output.val.map(part) : sendable(output.val, "the text") },
    metadata: extras.metadata === undefined ? null : sendableJson(extras.metadata, "the metadata"),
  };
}

function part(part: Part) {
  switch (part.type) {
    case "text":
      return { tag: "text", val: sendable(part.text, "the text of a part") };
    case "image":
    case "file": {
      const mediaType = sendable(part.mediaType, "a media type");
      const name = sendableIfAny(part.name, "a file name") ?? null;
      return { tag: part.type, val: { name, mediaType, data: sendableBytes(part.data, "what a part holds") } };
    }
    default:
      throw new TypeError("a part is a string, an image or a file");
  }
}

function refusal(error: unknown): Refusal {
  try {
    return told(error);
  } catch {
    // Inspecting the thrown value can throw too, if it is a proxy.
    return new Refusal({ tag: "failed", val: describe(error) });
  }
}

function told(error: unknown): Refusal {
  if (error instanceof Failure) {
    const { kind } = error;
    if (kind === "cancelled") return new Refusal({ tag: kind });
    const message = describe(error.message);
    return new Refusal({ tag: kind, val: kind === "unavailable" ? { message, retryAfterSeconds: null } : message });
  }
  let text = describe(error);
  if (error instanceof NeverSettled) text = error.message;
  if (error instanceof Uncaught) text = `uncaught in a callback or a promise: ${describe(error.reason)}`;
  return new Refusal({ tag: "failed", val: text });
}

function manifestOf({ name, version, description, tools, dependencies = {} }: Plugin) {
  return {
    name,
    version,
    description,
    tools: tools.map(definition),
    dependencies: Object.entries(dependencies).map(([key, { kind, reason, optional = false }]) => {
      return { key, kind, optional, reason };
    }),
  };
}

function definition(tool: Tool) {
  const flags = (names: readonly string[] = []) => Object.fromEntries(names.map((name) => [camelCase(name), true]));
  return {
    name: tool.name,
    title: tool.title ?? null,
    description: tool.description,
    schema: JSON.stringify(argumentsSchema(tool.arguments)),
    outputSchema: tool.output === undefined ? null : JSON.stringify(outputSchema(tool.output)),
    required: flags(tool.requires),
    optional: flags(tool.optional),
    hints: flags(tool.hints),
  };
}

function camelCase(name: string): string {
  return name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}
