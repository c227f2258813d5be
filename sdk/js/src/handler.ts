// The export of the component: describes the plugin, and runs one tool in an instance made for this call alone.

import { context } from "./context.ts";
import { complete, NeverSettled, Uncaught } from "./engine/jobs.ts";
import { describe, Failure } from "./failure.ts";
import { setManifest } from "./manifest.ts";
import { type Answer, answer, json, type Part } from "./output.ts";
import { argumentsSchema, outputSchema, parse } from "./schema.ts";
import type { Plugin, Tool } from "./tool.ts";

/** The variant `failure` of the contract. */
class Refusal {
  constructor(readonly payload: { tag: string; val?: string }) {}
}

/** Makes the component's export of a plugin. Its description is made while the component is built. */
export function handler(plugin: Plugin) {
  setManifest(plugin);
  const manifest = manifestOf(plugin);
  return {
    describe: () => manifest,
    executeRaw(name: string, input: string) {
      try {
        return success(complete(() => execute(plugin, name, input)));
      } catch (error) {
        throw refusal(error);
      }
    },
  };
}

async function execute(plugin: Plugin, name: string, input: string): Promise<Answer> {
  const tool = plugin.tools.find((tool) => tool.name === name);
  if (tool === undefined) throw new Failure("invalid-arguments", `there is no tool ${name}`);
  const value = await parse(tool.arguments, JSON.parse(input));
  const returned = await tool.execute(value, context);
  // A host holds JSON alone to a schema, and refuses text where there is one.
  const isText = typeof returned === "string";
  return isText && tool.output !== undefined ? json(returned) : answer(returned);
}

function success({ output, extras }: Answer) {
  return {
    title: extras.title ?? null,
    output: output.tag === "parts" ? { tag: output.tag, val: output.val.map(part) } : output,
    metadata: extras.metadata === undefined ? null : JSON.stringify(extras.metadata),
  };
}

function part(part: Part) {
  if (part.type === "text") return { tag: "text", val: part.text };
  return { tag: part.type, val: { mediaType: part.mediaType, data: part.data } };
}

function refusal(error: unknown): Refusal {
  if (error instanceof Failure) {
    return new Refusal(error.kind === "cancelled" ? { tag: error.kind } : { tag: error.kind, val: error.message });
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
