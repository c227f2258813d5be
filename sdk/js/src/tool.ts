// The types of tools and plugins.

import type { Context, Permission } from "./context.ts";
import type { Answer } from "./output.ts";
import type { Infer, Schema } from "./schema.ts";

/** A claim of the author about a tool's behaviour. */
export type Hint = "read-only" | "destructive" | "idempotent" | "open-world" | "sequential";

type Awaitable<T> = T | PromiseLike<T>;

/** The return value of a tool. A string is a text answer, any other JSON value is a JSON answer. */
export type Returned = string | number | boolean | null | object | Answer;

/** The options of a tool. */
export interface ToolOptions<S extends Schema, O extends Schema | undefined = undefined> {
  /** `[a-z][a-z0-9_-]{0,63}`, unique within the plugin. */
  name: string;
  /** A short title for people. */
  title?: string;
  /** What the tool does, what it needs and when to use it. Written for the model. */
  description: string;
  /** The arguments: a zod object, or a JSON Schema written `as const`. */
  arguments: S;
  /** The schema of a JSON answer. The host refuses an answer that does not match. */
  output?: O;
  /** Permissions that the tool requires. */
  requires?: readonly Permission[];
  /** Permissions that the tool uses if they are granted. */
  optional?: readonly Permission[];
  hints?: readonly Hint[];
  /** Runs the tool. A thrown error fails the call with the error's name and message. */
  execute(input: Infer<S>, context: Context): Awaitable<O extends Schema ? Infer<O> | Answer : Returned>;
}

/** A tool of a plugin. */
export type Tool = ToolOptions<any, any>;

/** A dependency of a plugin. Declaring it grants nothing: the call gets a handle only if the policy binds its key. */
export interface Dependency {
  kind: "directory" | "http" | "store" | "service" | "process" | "tools";
  /** Why the plugin needs it, for the author of the policy. */
  reason: string;
  /** Whether the plugin is useful without it. */
  optional?: boolean;
}

/** The options of a plugin. */
export interface PluginOptions {
  /** The plugin's name: that of the component's file, without `.wasm`. */
  name: string;
  version: string;
  description: string;
  tools: readonly Tool[];
  /** The plugin's dependencies, by key. */
  dependencies?: Readonly<Record<string, Dependency>>;
}

/** A plugin, the default export of the source. */
export type Plugin = Readonly<PluginOptions>;
