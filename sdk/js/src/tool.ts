// Tools and plugins, as their author writes them.

import { checkPlugin, checkTool } from "./check.ts";
import type { Context, Permission } from "./context.ts";
import type { Answer } from "./output.ts";
import type { Infer, Schema } from "./schema.ts";

/** What a tool's author claims of its behaviour. */
export type Hint = "read-only" | "destructive" | "idempotent" | "open-world" | "sequential";

type Awaitable<T> = T | PromiseLike<T>;

/** What a tool may return: a string is text, everything else that JSON can say is JSON. */
export type Returned = string | number | boolean | null | object | Answer;

/** What makes a tool. */
export interface ToolOptions<S extends Schema, O extends Schema | undefined = undefined> {
  /** `[a-z][a-z0-9_-]{0,63}`, unique within the plugin. */
  name: string;
  /** A few words for people. */
  title?: string;
  /** What the tool does, what it needs and when to use it: for a model. */
  description: string;
  /** The arguments: a zod object, or a JSON Schema written `as const`. */
  arguments: S;
  /** What a JSON answer looks like. The host refuses one that does not match. */
  output?: O;
  /** Rights without which the tool cannot work. */
  requires?: readonly Permission[];
  /** Rights that the tool can use when it has them. */
  optional?: readonly Permission[];
  hints?: readonly Hint[];
  /** Runs the tool. An error that it throws is a failed call with the error's name and message. */
  execute(input: Infer<S>, context: Context): Awaitable<O extends Schema ? Infer<O> | Answer : Returned>;
}

/** A tool of a plugin. */
export type Tool = ToolOptions<any, any>;

/** Makes a tool. Throws where an option is not one, or not what it has to be. */
export function tool<const S extends Schema, const O extends Schema | undefined = undefined>(
  options: ToolOptions<S, O>,
): Tool {
  checkTool(options);
  return options;
}

/** A handle that a plugin asks for. Asking grants nothing: a policy binds it to its key, or the call goes without. */
export interface Dependency {
  kind: "directory" | "http" | "store" | "service";
  /** Why, for the person who writes the policy. */
  reason: string;
  /** Whether the plugin is of use without it. */
  optional?: boolean;
}

/** What makes a plugin. */
export interface PluginOptions {
  /** The name of the component's file without `.wasm`. */
  name: string;
  version: string;
  description: string;
  tools: readonly Tool[];
  /** The handles it asks for, by key. */
  dependencies?: Readonly<Record<string, Dependency>>;
}

/** A plugin: what the source exports as its default. */
export type Plugin = Readonly<PluginOptions>;

/** Makes a plugin. Export it as the default of the source. Throws as `tool` does. */
export function plugin(options: PluginOptions): Plugin {
  checkPlugin(options);
  return options;
}
