// What differs between the engines.

/** Which engine runs this; the build puts its name here. */
declare const __ENGINE__: "quickjs" | "starlingmonkey";

/** An integer of 64 bits as the engine hands it to the host: QuickJS as a number, StarlingMonkey as a BigInt. */
export function u64(value: number): bigint {
  const whole = Math.max(0, Math.floor(value));
  return __ENGINE__ === "starlingmonkey" ? BigInt(whole) : (whole as unknown as bigint);
}
