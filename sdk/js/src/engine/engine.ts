// What differs between the engines.

/** The name of the engine that runs this code. The build inserts it. */
declare const __ENGINE__: "quickjs" | "starlingmonkey";

/** Converts a 64-bit integer for the host. QuickJS passes it as a number, StarlingMonkey as a BigInt. */
export function u64(value: number): bigint {
  const whole = Math.max(0, Math.floor(value));
  return __ENGINE__ === "starlingmonkey" ? BigInt(whole) : (whole as unknown as bigint);
}
