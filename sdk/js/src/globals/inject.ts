// The globals of a source. The build inserts only those that the source names.

import { AbortController, AbortSignal } from "./abort.ts";
import { Buffer } from "./buffer.ts";
import { Date, performance } from "./clock.ts";
import { structuredClone } from "./clone.ts";
import { time, timeEnd, timeLog } from "./console-time.ts";
import { console } from "./console.ts";
import { TextDecoder, TextEncoder } from "./encoding.ts";
import { fetch, Request, Response } from "./fetch.ts";
import { Headers } from "./headers.ts";
import { process } from "./process.ts";
import { crypto, random } from "./random.ts";
import { clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } from "./timers.ts";
import { URL, URLSearchParams } from "./url.ts";

export { AbortController, AbortSignal, Buffer, Date, Headers, Request, Response, TextDecoder, TextEncoder };
export { URL, URLSearchParams };
export { clearInterval, clearTimeout, console, crypto, fetch, performance, process };
export { setImmediate, setInterval, setTimeout, structuredClone };
export { random as "Math.random", time as "console.time", timeEnd as "console.timeEnd", timeLog as "console.timeLog" };

export { AbortController as "globalThis.AbortController", AbortSignal as "globalThis.AbortSignal" };
export { Buffer as "globalThis.Buffer" };
export { Headers as "globalThis.Headers", Request as "globalThis.Request", Response as "globalThis.Response" };
export { TextDecoder as "globalThis.TextDecoder", TextEncoder as "globalThis.TextEncoder" };
export { URL as "globalThis.URL", URLSearchParams as "globalThis.URLSearchParams" };
export { console as "globalThis.console", crypto as "globalThis.crypto", fetch as "globalThis.fetch" };
export { performance as "globalThis.performance", process as "globalThis.process" };
export { clearInterval as "globalThis.clearInterval", clearTimeout as "globalThis.clearTimeout" };
export { setImmediate as "globalThis.setImmediate", setInterval as "globalThis.setInterval" };
export { setTimeout as "globalThis.setTimeout", structuredClone as "globalThis.structuredClone" };
