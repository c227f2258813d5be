// What the SDK infers of schemas: the build fails where a type is another one.

import type { FromJsonSchema } from "portcullis-sdk";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

const same = <Type extends true>(): Type => true as Type;

interface Numbers {
  readonly type: "object";
  readonly additionalProperties: { readonly type: "number" };
}

same<Same<FromJsonSchema<Numbers>, Record<string, number>>>();
same<Same<FromJsonSchema<{ readonly type: "object" }>, Record<string, never>>>();
same<Same<FromJsonSchema<{ readonly type: "object"; readonly additionalProperties: false }>, Record<string, never>>>();
same<Same<FromJsonSchema<{ readonly type: "object"; readonly additionalProperties: true }>, Record<string, unknown>>>();
