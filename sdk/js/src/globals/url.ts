// URLs of the WHATWG standard. With QuickJS, write host names that are not ASCII in punycode.

import * as library from "whatwg-url-minimum";

/** The name of the engine that runs this code. The build inserts it. */
declare const __ENGINE__: "quickjs" | "starlingmonkey";

const engines = globalThis as unknown as typeof library;

// StarlingMonkey has its own `URL`, and cannot parse the library's regular expressions.
export const URL: typeof library.URL = __ENGINE__ === "starlingmonkey" ? engines.URL : library.URL;
export type URL = library.URL;

export const URLSearchParams: typeof library.URLSearchParams =
  __ENGINE__ === "starlingmonkey" ? engines.URLSearchParams : library.URLSearchParams;
export type URLSearchParams = library.URLSearchParams;
