// The globals that a source can use in addition to those of the language, and the Node modules that it can import.

import type * as abort from "./globals/abort.ts";
import type * as body from "./globals/body.ts";
import type * as buffers from "./globals/buffer.ts";
import type * as clock from "./globals/clock.ts";
import type * as clone from "./globals/clone.ts";
import type * as consoleTimers from "./globals/console-time.ts";
import type * as consoles from "./globals/console.ts";
import type * as encoding from "./globals/encoding.ts";
import type * as fetching from "./globals/fetch.ts";
import type * as headers from "./globals/headers.ts";
import type * as processes from "./globals/process.ts";
import type * as random from "./globals/random.ts";
import type * as timers from "./globals/timers.ts";
import type * as url from "./globals/url.ts";

/** `console` with the timers, which the build inserts where a source names them. */
type Console = typeof consoles.console & typeof consoleTimers;

declare global {
  const AbortController: typeof abort.AbortController;
  type AbortController = abort.AbortController;
  const AbortSignal: typeof abort.AbortSignal;
  type AbortSignal = abort.AbortSignal;
  type BodyInit = body.BodyInit;
  const Buffer: typeof buffers.Buffer;
  type Buffer = buffers.Buffer;
  const Headers: typeof headers.Headers;
  type Headers = headers.Headers;
  type HeadersInit = headers.HeadersInit;
  const Request: typeof fetching.Request;
  type Request = fetching.Request;
  type RequestInit = fetching.RequestInit;
  const Response: typeof fetching.Response;
  type Response = fetching.Response;
  type ResponseInit = fetching.ResponseInit;
  const TextDecoder: typeof encoding.TextDecoder;
  type TextDecoder = encoding.TextDecoder;
  const TextEncoder: typeof encoding.TextEncoder;
  type TextEncoder = encoding.TextEncoder;
  const URL: typeof url.URL;
  type URL = url.URL;
  const URLSearchParams: typeof url.URLSearchParams;
  type URLSearchParams = url.URLSearchParams;

  const clearInterval: typeof timers.clearInterval;
  const clearTimeout: typeof timers.clearTimeout;
  const console: Console;
  const crypto: typeof random.crypto;
  const fetch: typeof fetching.fetch;
  const performance: typeof clock.performance;
  const process: typeof processes.process;
  const setImmediate: typeof timers.setImmediate;
  const setInterval: typeof timers.setInterval;
  const setTimeout: typeof timers.setTimeout;
  const structuredClone: typeof clone.structuredClone;

  function atob(text: string): string;
  function btoa(text: string): string;
  function queueMicrotask(callback: () => void): void;
}
