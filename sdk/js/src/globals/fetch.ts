// `fetch` over the clients that the policy grants.

import { type Client as Handle, openClient } from "portcullis:tool/dependencies";
import { Failed } from "../failure.ts";
import { noHandle } from "../handles.ts";
import { httpKeys } from "../manifest.ts";
import { sendable } from "../sendable.ts";
import type { AbortSignal } from "./abort.ts";
import { Body, type BodyInit, bodyOf, whole } from "./body.ts";
import { exchange, type Incoming } from "./exchange.ts";
import { Headers, type HeadersInit, token } from "./headers.ts";
import { URL } from "./url.ts";

/** Maximum redirects to follow, as in browsers. */
const REDIRECTS_MAX = 20;

const REDIRECT_STATUSES = [301, 302, 303, 307, 308];

/** Headers that a redirect to another origin drops. */
const OF_ONE_ORIGIN = ["authorization", "cookie", "proxy-authorization"];

export interface RequestInit {
  method?: string;
  headers?: HeadersInit;
  body?: BodyInit | null;
  redirect?: "follow" | "manual" | "error";
  signal?: AbortSignal | null;
}

export class Request extends Body {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly redirect: "follow" | "manual" | "error";
  readonly signal: AbortSignal | null;
  /** @internal */
  readonly content: Uint8Array<ArrayBuffer> | null;

  constructor(input: string | URL | Request, init: RequestInit = {}) {
    const base = input instanceof Request ? input : undefined;
    const given = bodyOf(init.body);
    const content = given?.bytes ?? base?.content ?? null;
    super(content && whole(content));
    this.content = content;
    const url = new URL(base?.url ?? String(input));
    if (!/^https?:$/.test(url.protocol)) throw new TypeError(`cannot fetch ${url.protocol}: only http and https`);
    this.url = url.href;
    this.method = token(init.method ?? base?.method ?? "GET", "the method").toUpperCase();
    this.headers = new Headers(init.headers ?? base?.headers);
    this.redirect = init.redirect ?? base?.redirect ?? "follow";
    this.signal = init.signal ?? base?.signal ?? null;
    if (content !== null && (this.method === "GET" || this.method === "HEAD")) {
      throw new TypeError(`a request with ${this.method} has no body`);
    }
    if (given?.type !== undefined && !this.headers.has("content-type")) this.headers.set("content-type", given.type);
  }
}

export interface ResponseInit {
  status?: number;
  statusText?: string;
  headers?: HeadersInit;
}

let received: (incoming: Incoming, url: string, redirected: boolean) => Response;

export class Response extends Body {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  url = "";
  redirected = false;

  static {
    received = ({ status, headers, chunks }, url, redirected) => {
      const response = new Response(null, { status, headers }, chunks);
      response.url = url;
      response.redirected = redirected;
      return response;
    };
  }

  constructor(body?: BodyInit | null, init: ResponseInit = {}, chunks?: Incoming["chunks"]) {
    const given = bodyOf(body);
    super(chunks ?? (given && whole(given.bytes)));
    this.status = init.status ?? 200;
    this.statusText = init.statusText ?? "";
    this.headers = new Headers(init.headers);
    if (given?.type !== undefined && !this.headers.has("content-type")) this.headers.set("content-type", given.type);
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  static json(value: unknown, init: ResponseInit = {}): Response {
    const response = new Response(JSON.stringify(value), init);
    const named = new Headers(init.headers).has("content-type");
    if (!named) response.headers.set("content-type", "application/json");
    return response;
  }
}

/** The HTTP client of one dependency key. */
export interface Client {
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /** Whether the host adds a secret to requests to the secret's destination. */
  readonly hasSecret: boolean;
}

/** Opens the client of a dependency key. */
export function client(key: string): Client {
  const handle = open(key);
  return {
    fetch: (input, init) => send(handle, new Request(input, init)),
    get hasSecret() {
      return handle.hasSecret();
    },
  };
}

/** Sends a request with the first client that the plugin declares and the policy grants. */
export async function fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  return send(firstClient(), new Request(input, init));
}

function open(key: string): Handle {
  try {
    return openClient(sendable(key, "the key of an HTTP client"));
  } catch (error) {
    throw noHandle("HTTP client", key, error);
  }
}

function firstClient(): Handle {
  let refusal: unknown = new Failed("the plugin asks for no HTTP client: name one in its dependencies");
  for (const key of httpKeys()) {
    try {
      return open(key);
    } catch (error) {
      refusal = error;
    }
  }
  throw refusal;
}

async function send(handle: Handle, request: Request): Promise<Response> {
  let { method, content: body } = request;
  let url = new URL(request.url);
  const headers = new Headers(request.headers);
  for (let redirects = 0; ; redirects++) {
    request.signal?.throwIfAborted();
    const incoming = await abortable(exchange(handle, { url, method, headers, body }), request.signal);
    const location = new Headers(incoming.headers).get("location");
    const leads = REDIRECT_STATUSES.includes(incoming.status) && location !== null;
    if (!leads || request.redirect === "manual") {
      const chunks = stoppable(incoming.chunks, request.signal);
      return received({ ...incoming, chunks }, url.href, redirects > 0);
    }
    if (request.redirect === "error") throw new TypeError(`${url.href} redirects to ${location}`);
    if (redirects === REDIRECTS_MAX) throw new TypeError(`${request.url} redirects more than ${REDIRECTS_MAX} times`);
    const next = new URL(location, url);
    if (next.origin !== url.origin) for (const name of OF_ONE_ORIGIN) headers.delete(name);
    if (incoming.status === 303 || (incoming.status < 303 && method === "POST")) {
      method = method === "HEAD" ? method : "GET";
      body = null;
      headers.delete("content-type");
    }
    url = next;
  }
}

/** Waits for the work or for the signal, whichever comes first. */
function abortable<T>(work: Promise<T>, signal: AbortSignal | null): Promise<T> {
  if (signal === null) return work;
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason));
    work.then(resolve, reject);
  });
}

/** Yields the chunks of a body until the signal aborts. */
async function* stoppable(
  chunks: Incoming["chunks"],
  signal: AbortSignal | null,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const pieces = chunks[Symbol.asyncIterator]();
  try {
    for (;;) {
      const piece = await abortable(pieces.next(), signal);
      if (piece.done) return;
      yield piece.value;
    }
  } finally {
    void pieces.return?.();
  }
}
