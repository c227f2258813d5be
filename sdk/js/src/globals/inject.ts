// What a source finds as a global. The build puts in what the source names, and nothing else.

export { AbortController, AbortSignal } from "./abort.ts";
export { Date, performance } from "./clock.ts";
export { structuredClone } from "./clone.ts";
export { console } from "./console.ts";
export { TextDecoder, TextEncoder } from "./encoding.ts";
export { fetch, Request, Response } from "./fetch.ts";
export { Headers } from "./headers.ts";
export { process } from "./process.ts";
export { crypto, random as "Math.random" } from "./random.ts";
export { clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } from "./timers.ts";
export { URL, URLSearchParams } from "./url.ts";
