// Schemas, from a library that implements Standard Schema and Standard JSON Schema (such as zod 4.2 or newer), or
// written as JSON Schema. The host validates every call against the schema. A library's own parsing runs afterwards,
// for its defaults, transformations and refinements.

import { InvalidArguments } from "./failure.ts";

/** A JSON Schema, as an object. */
export type JsonSchema = { readonly [keyword: string]: unknown };

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

type Result<T> = { readonly value: T; readonly issues?: undefined } | { readonly issues: readonly Issue[] };

/** The interface of a library's schema: https://standardschema.dev */
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

/** A schema of arguments or of an output. */
export type Schema = StandardSchema<any, any> | JsonSchema;

/** The type that a JSON Schema describes, as far as TypeScript can express it. Write the schema `as const`. */
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

/** The type of the arguments that a tool gets for a schema. */
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

/** Returns the JSON Schema of arguments, with its objects closed to unknown properties. */
export function argumentsSchema(schema: Schema): JsonSchema {
  const written = isStandard(schema) ? schema["~standard"].jsonSchema.input({ target: "draft-2020-12" }) : schema;
  const closed = close(written) as Record<string, unknown>;
  // The root always has the type `object`, even if a library omits it, and never names its dialect.
  const { $schema: _, ...rest } = closed;
  return { type: "object", ...rest };
}

/** Returns the JSON Schema of an output. */
export function outputSchema(schema: Schema): JsonSchema {
  const written = isStandard(schema) ? schema["~standard"].jsonSchema.output({ target: "draft-2020-12" }) : schema;
  const { $schema: _, ...rest } = close(written) as Record<string, unknown>;
  return rest;
}

/** Keywords whose subschemas apply to the same object as the schema that contains them. */
const BESIDE = ["allOf", "anyOf", "oneOf", "if", "then", "else", "not", "dependentSchemas"];

/** Those of them that hold alternatives. Each alternative can be closed alone if no other keyword names properties. */
const ALTERNATIVES = ["anyOf", "oneOf"];

/** Keywords that hold a map of schemas, by names that the author chose. */
const NAMED = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/** Keywords that hold values, not schemas. */
const VALUES = ["const", "enum", "default", "examples", "required", "dependentRequired"];

type Node = Record<string, unknown>;

const isNode = (schema: unknown): schema is Node =>
  typeof schema === "object" && schema !== null && !Array.isArray(schema);

/** Returns whether subschemas apply to the same object, unless they are alternatives that can be closed alone. */
function isComposed(schema: Node): boolean {
  const [alternatives, others] = [ALTERNATIVES, BESIDE.filter((keyword) => !ALTERNATIVES.includes(keyword))];
  if (others.some((keyword) => keyword in schema)) return true;
  const names = "properties" in schema || schema.type === "object";
  return names && alternatives.some((keyword) => keyword in schema);
}

/** Returns whether the subschemas of a keyword apply to an object that an outer schema closes. */
function isBeside(keyword: string, schema: Node, beside: boolean): boolean {
  return ALTERNATIVES.includes(keyword) ? beside || isComposed(schema) : BESIDE.includes(keyword);
}

/** Yields the direct subschemas of a schema with their keyword and, in a map or list, their name or index. */
function* within(schema: Node): Generator<[keyword: string, name: string | number | null, inner: unknown]> {
  for (const [keyword, value] of Object.entries(schema)) {
    if (VALUES.includes(keyword)) continue;
    const many = Array.isArray(value) || (NAMED.includes(keyword) && isNode(value));
    if (!many) yield [keyword, null, value];
    else for (const [name, inner] of Object.entries(value)) yield [keyword, name, inner];
  }
}

/**
 * Closes every object schema to properties that it does not name, unless the schema says otherwise. If several schemas
 * apply to the same object, each does not know the properties of the others. The outermost of them is then closed, with
 * `unevaluatedProperties`. A definition that such a schema refers to stays open.
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

/** Returns whether a schema, or one of its `allOf` schemas, has the type `object`. */
function isObject({ type, allOf }: Node): boolean {
  return type === "object" || (Array.isArray(allOf) && allOf.some((one) => isNode(one) && isObject(one)));
}

/** Returns the targets of each `$ref` in a schema that shares its object with another schema. These must stay open. */
function openDefinitions(schema: unknown, beside = false, found = new Set<unknown>()): Set<unknown> {
  if (!isNode(schema)) return found;
  if (beside) found.add(schema.$ref);
  for (const [keyword, , inner] of within(schema)) openDefinitions(inner, isBeside(keyword, schema, beside), found);
  return found;
}

/** Parses the arguments with the schema's library. */
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
