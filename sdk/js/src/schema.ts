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
                : S extends { readonly type: "object"; readonly additionalProperties: infer A }
                  ? Record<string, A extends false ? never : A extends true ? unknown : FromJsonSchema<A>>
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

/** Keywords whose schemas look at the same object as the schema that they stand in. */
const BESIDE = ["allOf", "anyOf", "oneOf", "if", "then", "else", "not", "dependentSchemas"];

/** Those of them that hold alternatives: each can be closed for itself where nothing stands beside them. */
const ALTERNATIVES = ["anyOf", "oneOf"];

/** Keywords that hold schemas by names of the author's own. */
const NAMED = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/** Keywords that hold values and no schemas. */
const VALUES = ["const", "enum", "default", "examples", "required", "dependentRequired"];

type Node = Record<string, unknown>;

const isNode = (schema: unknown): schema is Node =>
  typeof schema === "object" && schema !== null && !Array.isArray(schema);

/** Whether other schemas look at the same object, and are no alternatives that can be closed each for itself. */
function isComposed(schema: Node): boolean {
  const [alternatives, others] = [ALTERNATIVES, BESIDE.filter((keyword) => !ALTERNATIVES.includes(keyword))];
  if (others.some((keyword) => keyword in schema)) return true;
  const names = "properties" in schema || schema.type === "object";
  return names && alternatives.some((keyword) => keyword in schema);
}

/** Whether the schemas of a keyword look at an object that is closed further out. */
function isBeside(keyword: string, schema: Node, beside: boolean): boolean {
  return ALTERNATIVES.includes(keyword) ? beside || isComposed(schema) : BESIDE.includes(keyword);
}

/** The schemas in a schema, with their keywords and, where they stand in a map, their names there. */
function* within(schema: Node): Generator<[keyword: string, name: string | number | null, inner: unknown]> {
  for (const [keyword, value] of Object.entries(schema)) {
    if (VALUES.includes(keyword)) continue;
    const many = Array.isArray(value) || (NAMED.includes(keyword) && isNode(value));
    if (!many) yield [keyword, null, value];
    else for (const [name, inner] of Object.entries(value)) yield [keyword, name, inner];
  }
}

/**
 * Has every object that names its properties refuse all others, unless it says otherwise. A schema that looks at the
 * same object as another cannot know what that one names, so that the outermost of them is closed, by
 * `unevaluatedProperties`. A definition that such a schema refers to stays as it is.
 */
function close(schema: unknown, beside = false, open = openDefinitions(schema)): unknown {
  if (!isNode(schema)) return schema;
  const closed: Node = {};
  for (const [keyword, value] of Object.entries(schema)) {
    closed[keyword] = Array.isArray(value) ? [...value] : isNode(value) ? { ...value } : value;
  }
  for (const [keyword, name, inner] of within(schema)) {
    const isOpen = isBeside(keyword, schema, beside) || open.has(`#/${keyword}/${name}`);
    const made = close(inner, isOpen, open);
    if (name === null) closed[keyword] = made;
    else (closed[keyword] as Node)[name] = made;
  }
  if (!beside && isObject(schema) && !("additionalProperties" in schema) && !("unevaluatedProperties" in schema)) {
    closed[isComposed(schema) ? "unevaluatedProperties" : "additionalProperties"] = false;
  }
  return closed;
}

/** Whether a schema, or one beside it that always holds, says that it is of an object. */
function isObject({ type, allOf }: Node): boolean {
  return type === "object" || (Array.isArray(allOf) && allOf.some((one) => isNode(one) && isObject(one)));
}

/** What `$ref` leads to from beside another schema. */
function openDefinitions(schema: unknown, beside = false, found = new Set<unknown>()): Set<unknown> {
  if (!isNode(schema)) return found;
  if (beside) found.add(schema.$ref);
  for (const [keyword, , inner] of within(schema)) openDefinitions(inner, isBeside(keyword, schema, beside), found);
  return found;
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
