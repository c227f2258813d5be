// Schemas: from a library that follows Standard Schema and Standard JSON Schema (zod 4.2 or newer does), or written as
// JSON Schema. The host validates every call by the schema; a library's own parsing runs after it, for its defaults,
// transformations and refinements.

import { InvalidArguments } from "./failure.ts";

/** A JSON Schema, as an object. */
export type JsonSchema = { readonly [keyword: string]: unknown };

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

type Result<T> = { readonly value: T; readonly issues?: undefined } | { readonly issues: readonly Issue[] };

/** What a schema library offers of its schemas: https://standardschema.dev */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly validate: (value: unknown) => Result<Output> | PromiseLike<Result<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema: {
      readonly input: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>;
      readonly output: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>;
    };
  };
}

/** What describes arguments. */
export type Schema = StandardSchema<any, any> | JsonSchema;

/** The type that a JSON Schema stands for, as far as its keywords say it. Write the schema `as const`. */
export type FromJsonSchema<S> = S extends { readonly const: infer V }
  ? V
  : S extends { readonly enum: readonly (infer V)[] }
    ? V
    : S extends { readonly type: "string" }
      ? string
      : S extends { readonly type: "number" | "integer" }
        ? number
        : S extends { readonly type: "boolean" }
          ? boolean
          : S extends { readonly type: "null" }
            ? null
            : S extends { readonly type: "array"; readonly items: infer I }
              ? FromJsonSchema<I>[]
              : S extends { readonly type: "object"; readonly properties: infer P }
                ? FromProperties<P, S extends { readonly required: readonly (infer K)[] } ? K : never>
                : S extends { readonly type: "object" }
                  ? Record<string, never>
                  : unknown;

type FromProperties<P, Required> = {
  -readonly [K in keyof P as K extends Required ? K : never]: FromJsonSchema<P[K]>;
} & {
  -readonly [K in keyof P as K extends Required ? never : K]?: FromJsonSchema<P[K]>;
};

/** The type of what a tool gets by a schema. */
export type Infer<S> =
  S extends StandardSchema<any, any>
    ? S extends { readonly "~standard": { readonly types?: { readonly output: infer O } | undefined } }
      ? O
      : never
    : FromJsonSchema<S>;

function isStandard(schema: Schema): schema is StandardSchema {
  if (!("~standard" in schema)) return false;
  const { jsonSchema } = schema["~standard"] as { jsonSchema?: unknown };
  if (jsonSchema === undefined) {
    throw new TypeError("the library of this schema gives no JSON Schema: `zod` does from 4.2 on, `zod/mini` does not");
  }
  return true;
}

/** The JSON Schema of arguments, in which no object takes what it does not name. */
export function argumentsSchema(schema: Schema): JsonSchema {
  const written = isStandard(schema) ? schema["~standard"].jsonSchema.input({ target: "draft-2020-12" }) : schema;
  const closed = close(written) as Record<string, unknown>;
  // The root says that it is an object even when a library leaves that out, and not which dialect it is in.
  const { $schema: _, ...rest } = closed;
  return { type: "object", ...rest };
}

/** The JSON Schema of an output. */
export function outputSchema(schema: Schema): JsonSchema {
  const written = isStandard(schema) ? schema["~standard"].jsonSchema.output({ target: "draft-2020-12" }) : schema;
  const { $schema: _, ...rest } = close(written) as Record<string, unknown>;
  return rest;
}

/** Adds `additionalProperties: false` to every object that names its properties and does not say otherwise. */
function close(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(close);
  if (typeof schema !== "object" || schema === null) return schema;
  const closed: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    // What is a value and not a schema stays as it is.
    closed[keyword] = ["const", "enum", "default", "examples"].includes(keyword) ? value : close(value);
  }
  if (closed.type === "object" && !("additionalProperties" in closed) && !("unevaluatedProperties" in closed)) {
    closed.additionalProperties = false;
  }
  return closed;
}

/** The arguments as the schema's library gives them. */
export async function parse(schema: Schema, value: unknown): Promise<unknown> {
  if (!isStandard(schema)) return value;
  const result = await schema["~standard"].validate(value);
  if (result.issues === undefined) return result.value;
  const told = result.issues.map(({ path = [], message }) => {
    const keys = path.map((step) => String(typeof step === "object" ? step.key : step));
    return keys.length > 0 ? `${keys.join(".")}: ${message}` : message;
  });
  throw new InvalidArguments(told.join("; "));
}
