// Checks the options of tools and plugins, for authors who do not check types. The build reports what a check throws.

import { kindOf } from "./sendable.ts";
import type { Plugin, Tool } from "./tool.ts";

/** Maximum edit distance between a misspelled word and the suggested one. */
const LETTERS_MAX = 2;

const TOOL_NAME = /^[a-z][a-z0-9_-]{0,63}$/;
const PERMISSIONS = ["read", "write", "execute", "network"];
const HINTS = ["read-only", "destructive", "idempotent", "open-world", "sequential"];
const KINDS = ["directory", "http", "store", "service", "process", "tools"];

/** The check of each option, the text for what it must be, and whether the option may be absent. */
type Options = Record<string, [is: (value: any) => boolean, what: string, need?: "optional"]>;

const isText = (value: unknown) => typeof value === "string" && value !== "";
const isRecord = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value);
const aString = "a non-empty string";
const aList = "a list";

const TOOL: Options = {
  name: [(name) => typeof name === "string" && TOOL_NAME.test(name), "a name such as `read-file`"],
  title: [isText, aString, "optional"],
  description: [isText, aString],
  arguments: [isSchema, "a schema"],
  output: [isSchema, "a schema", "optional"],
  requires: [Array.isArray, aList, "optional"],
  optional: [Array.isArray, aList, "optional"],
  hints: [Array.isArray, aList, "optional"],
  execute: [(value) => typeof value === "function", "a function"],
};

const PLUGIN: Options = {
  name: [isText, aString],
  version: [isText, aString],
  description: [isText, aString],
  tools: [Array.isArray, "a list of tools"],
  dependencies: [isRecord, "an object", "optional"],
};

const DEPENDENCY: Options = {
  kind: [isText, aString],
  reason: [isText, aString],
  optional: [(value) => typeof value === "boolean", "true or false", "optional"],
};

/** Returns whether a value can be a schema. Some schema libraries represent a schema as a function. */
function isSchema(value: unknown): boolean {
  return isRecord(value) || typeof value === "function";
}

/** Throws if an option of a tool is missing, unknown or of the wrong type. */
export function checkTool(tool: Tool): void {
  checkOptions(isText(tool?.name) ? `tool ${tool.name}` : "tool", tool, TOOL);
  for (const option of ["requires", "optional"] as const) {
    for (const right of tool[option] ?? []) checkWord(`tool ${tool.name}: ${option}`, "permission", right, PERMISSIONS);
  }
  for (const hint of tool.hints ?? []) checkWord(`tool ${tool.name}: hints`, "hint", hint, HINTS);
}

/** Throws if an option of a plugin, its tools or its dependencies is missing, unknown or of the wrong type. */
export function checkPlugin(plugin: Plugin): void {
  if (!isRecord(plugin)) {
    throw new TypeError(`the default export of the source has to be \`plugin({ ... })\`, and is ${kindOf(plugin)}`);
  }
  checkOptions("plugin", plugin, PLUGIN);
  const names = new Set<string>();
  for (const tool of plugin.tools) {
    checkTool(tool);
    if (names.has(tool.name)) throw new TypeError(`plugin: there are two tools ${tool.name}`);
    names.add(tool.name);
  }
  for (const [key, dependency] of Object.entries(plugin.dependencies ?? {})) {
    checkOptions(`dependency ${key}`, dependency, DEPENDENCY);
    checkWord(`dependency ${key}`, "kind", dependency.kind, KINDS);
  }
}

function checkOptions(who: string, given: object, options: Options): void {
  if (!isRecord(given)) throw new TypeError(`${who}: it has to be an object, and is ${kindOf(given)}`);
  for (const key of Object.keys(given)) checkWord(who, "option", key, Object.keys(options));
  for (const [name, [is, what, need]] of Object.entries(options)) {
    const value = (given as Record<string, unknown>)[name];
    if (value === undefined && need === "optional") continue;
    if (value === undefined) throw new TypeError(`${who}: \`${name}\` is missing; it is ${what}`);
    if (is(value)) continue;
    const found = typeof value === "string" ? JSON.stringify(value) : kindOf(value);
    throw new TypeError(`${who}: \`${name}\` has to be ${what}, and is ${found}`);
  }
}

function checkWord(who: string, what: string, word: unknown, known: readonly string[]): void {
  if (typeof word === "string" && known.includes(word)) return;
  const shown = typeof word === "string" ? JSON.stringify(word) : kindOf(word);
  const meant = typeof word === "string" ? nearest(word, known) : undefined;
  const help = meant === undefined ? `there are ${known.join(", ")}` : `did you mean "${meant}"?`;
  throw new TypeError(`${who}: unknown ${what} ${shown}, ${help}`);
}

function nearest(word: string, known: readonly string[]): string | undefined {
  const begun = known.find((other) => word !== "" && other.startsWith(word));
  if (begun !== undefined) return begun;
  const measured = known.map((other) => [distance(word, other), other] as const).sort(([a], [b]) => a - b);
  const [least] = measured;
  return least !== undefined && least[0] <= LETTERS_MAX ? least[1] : undefined;
}

/** Returns the edit distance of two words: the number of letters to insert, delete or replace. */
function distance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const line = [row];
    for (let column = 1; column <= b.length; column++) {
      const changed = (above[column - 1] as number) + (a[row - 1] === b[column - 1] ? 0 : 1);
      line.push(Math.min(changed, (above[column] as number) + 1, (line[column - 1] as number) + 1));
    }
    above = line;
  }
  return above[b.length] as number;
}
