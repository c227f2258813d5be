// URLs by the web's standard. With QuickJS a host name in other letters than ASCII has to be given in punycode.

import * as library from "whatwg-url-minimum";

/** Which engine runs this; the build puts its name here. */
declare const __ENGINE__: "quickjs" | "starlingmonkey";

const engines = globalThis as unknown as typeof library;

// StarlingMonkey has its own, and cannot read the patterns of the library's.
export const URL: typeof library.URL = __ENGINE__ === "starlingmonkey" ? engines.URL : library.URL;
export type URL = library.URL;

export const URLSearchParams: typeof library.URLSearchParams =
  __ENGINE__ === "starlingmonkey" ? engines.URLSearchParams : library.URLSearchParams;
export type URLSearchParams = library.URLSearchParams;
