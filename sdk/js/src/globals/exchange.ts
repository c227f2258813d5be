// One HTTP exchange over a client of the host.

import type { Client } from "portcullis:tool/dependencies";
import { Fields, type IncomingBody, type IncomingResponse, OutgoingBody, OutgoingRequest } from "wasi:http/types";
import type { InputStream } from "wasi:io/streams";
import { ready } from "../engine/pollables.ts";
import { u64 } from "../engine/engine.ts";
import { Denied, Failed, payload, Unavailable } from "../failure.ts";
import { decode, encode } from "./encoding.ts";
import type { Chunks } from "./body.ts";
import type { Headers } from "./headers.ts";
import type { URL } from "./url.ts";

/** Maximum bytes of a request's body per write: what `wasi:io` guarantees to accept. */
const WRITE_BYTES = 4096;
/** Maximum bytes of a response's body per read. */
const READ_BYTES = 65536;

const METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"];

/** A request to send. */
export interface Outgoing {
  url: URL;
  method: string;
  headers: Headers;
  body: Uint8Array | null;
}

/** A received response. */
export interface Incoming {
  status: number;
  headers: [string, string][];
  chunks: Chunks;
}

export async function exchange(client: Client, outgoing: Outgoing): Promise<Incoming> {
  try {
    const request = head(outgoing);
    const body = request.body();
    const future = client.send(request, null);
    sendBody(body, outgoing.body);
    await ready(future.subscribe());
    const result = future.get();
    if (result?.tag !== "ok" || result.val === undefined) throw new Unavailable("there is no response");
    if (result.val.tag === "err") throw failure(client, outgoing.url, result.val.val);
    const response: IncomingResponse = result.val.val;
    const headers = response.headers().entries().map(([name, value]): [string, string] => [name, decode(value)]);
    return { status: response.status(), headers, chunks: chunks(client, outgoing.url, response) };
  } catch (error) {
    const code = payload(error);
    throw code === undefined ? error : failure(client, outgoing.url, code);
  }
}

function head({ url, method, headers, body }: Outgoing): OutgoingRequest {
  const fields = new Fields();
  for (const [name, value] of headers) {
    // The length is always that of the body, even if the caller set another one.
    if (name !== "content-length") append(fields, name, value);
  }
  if (body !== null) fields.append("content-length", encode(String(body.length)));
  const request = new OutgoingRequest(fields);
  request.setMethod(METHODS.includes(method) ? { tag: method.toLowerCase() } : { tag: "other", val: method });
  request.setScheme({ tag: url.protocol === "https:" ? "HTTPS" : "HTTP" });
  request.setAuthority(url.host);
  request.setPathWithQuery(url.pathname + url.search);
  return request;
}

function append(fields: Fields, name: string, value: string): void {
  try {
    fields.append(name, encode(value));
  } catch (error) {
    if ((payload(error) as { tag?: string } | undefined)?.tag !== "forbidden") throw error;
    throw new Denied(`the header ${name} is set by the host; leave it out`);
  }
}

/**
 * Writes the body. A server may answer before it has read all of it, and the host may refuse the request meanwhile.
 * The outcome is reported when the response is read, so errors are ignored here.
 */
function sendBody(body: OutgoingBody, bytes: Uint8Array | null): void {
  try {
    {
      using stream = body.write();
      for (let start = 0; bytes !== null && start < bytes.length; start += WRITE_BYTES) {
        stream.blockingWriteAndFlush(bytes.subarray(start, start + WRITE_BYTES));
      }
    }
    OutgoingBody.finish(body, null);
  } catch {
    // Reported when the response is read.
  }
}

/**
 * The bodies that are being read. The references keep the engine from dropping them during garbage collection, in any
 * order. The host traps a call that drops a body before its stream.
 */
const open = new Set<{ stream: InputStream; body: IncomingBody; response: IncomingResponse }>();

/** Yields the chunks of a response's body as they arrive. */
async function* chunks(client: Client, url: URL, response: IncomingResponse): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const body = response.consume();
  const reading = { stream: body.stream(), body, response };
  open.add(reading);
  try {
    for (;;) {
      const chunk = read(reading.stream, () => client.refusal(), url);
      if (chunk === null) return;
      if (chunk.length > 0) yield chunk;
      else await ready(reading.stream.subscribe());
    }
  } finally {
    reading.stream[Symbol.dispose]();
    body[Symbol.dispose]();
    open.delete(reading);
  }
}

/** Reads what has arrived so far. Returns `null` at the end. */
function read(
  stream: InputStream,
  refusal: () => string | null | undefined,
  url: URL,
): Uint8Array<ArrayBuffer> | null {
  try {
    return stream.read(u64(READ_BYTES)) as Uint8Array<ArrayBuffer>;
  } catch (error) {
    if ((payload(error) as { tag?: string } | undefined)?.tag === "closed") return null;
    const words = refusal();
    if (words != null) throw new Failed(`${url.host}: ${words}`);
    throw new Unavailable(`${url.host}: its response ended before it was complete`);
  }
}

/** Returns the error of an exchange: the host's refusal if it refused the request, otherwise the connection error. */
function failure(client: Client, url: URL, code: unknown): Error {
  const { tag, val } = (code ?? {}) as { tag?: string; val?: unknown };
  if (tag === "HTTP-request-denied" || tag === "destination-IP-prohibited") {
    return new Denied(client.refusal() ?? `the policy does not cover the request to ${url.host}`);
  }
  if (tag?.startsWith("HTTP-request-")) return new Failed(`${url.host}: ${tag.replaceAll("-", " ")}`);
  const words = tag === "internal-error" && typeof val === "string" ? val : (tag ?? String(code)).replaceAll("-", " ");
  return new Unavailable(`${url.host}: ${words}`);
}
