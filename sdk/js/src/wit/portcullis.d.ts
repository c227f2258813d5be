// The interfaces of the contract, as the engines expose them to JavaScript.

declare module "portcullis:tool/context" {
  export interface Call {
    id: string;
    session: string;
    message?: string | null;
    agent?: string | null;
  }
  export interface Update {
    title?: string | undefined;
    metadata?: string | undefined;
    fraction?: number | undefined;
  }
  export function current(): Call;
  export function report(update: Update): void;
  export function isCancelled(): boolean;
  export function ask(permission: string, resource: string, reason: string): void;
  export function keep(file: { name: string | null; mediaType: string; data: Uint8Array }): void;
}

declare module "portcullis:tool/dependencies" {
  import type { FutureIncomingResponse, OutgoingRequest } from "wasi:http/types";
  import type { Descriptor } from "wasi:filesystem/types";
  export interface Client {
    send(request: OutgoingRequest, options: null): FutureIncomingResponse;
    refusal(): string | null | undefined;
    hasSecret(): boolean;
  }
  export interface Service {
    call(method: string, input: string): string;
  }
  export function openDirectory(key: string): Descriptor;
  export function openClient(key: string): Client;
  export function openService(key: string): Service;
  export function namesHost(key: string, url: string): boolean;
}

declare module "portcullis:tool/programs" {
  import type { Pollable } from "wasi:io/poll";
  import type { InputStream, OutputStream } from "wasi:io/streams";
  export interface Launch {
    arguments: string[];
    environment: [string, string][];
    directory: string | null;
    merge: boolean;
  }
  export type Exit = { tag: "code"; val: number } | { tag: "signal"; val: number } | { tag: "stopped"; val: string };
  export interface ExitReport {
    exit: Exit;
    milliseconds: bigint | number;
    leftProcesses: number;
    refused: string[];
  }
  export interface Running {
    stdin(): OutputStream | null | undefined;
    stdout(): InputStream | null | undefined;
    stderr(): InputStream | null | undefined;
    subscribe(): Pollable;
    exit(): ExitReport | null | undefined;
    kill(): void;
    [Symbol.dispose](): void;
  }
  export interface Missing {
    tag: "destination" | "readable-directory" | "writable-directory";
    val: string;
  }
  export interface Program {
    start(launch: Launch): Running;
    startWith(launch: Launch, missing: Missing): Running;
  }
  export function openProgram(key: string): Program;
}

declare module "portcullis:tool/tools" {
  export interface Summary {
    name: string;
    title?: string | null;
    description: string;
  }
  export interface Callable extends Summary {
    schema: string;
    outputSchema?: string | null;
    permissions: Record<string, boolean>;
    hints: Record<string, boolean>;
  }
  export interface ToolCall {
    tool: string;
    arguments: string;
  }
  export interface Blob {
    name?: string | null;
    mediaType: string;
    data: Uint8Array;
  }
  export type HostPart = { tag: "text"; val: string } | { tag: "image" | "file"; val: Blob };
  export interface Success {
    title?: string | null;
    output: { tag: "text" | "json"; val: string } | { tag: "parts"; val: HostPart[] };
    metadata?: string | null;
  }
  export interface Outage {
    message: string;
    retryAfterSeconds?: number | null;
  }
  export type Failure =
    | { tag: "invalid-arguments" | "denied" | "failed"; val: string }
    | { tag: "unavailable"; val: Outage }
    | { tag: "cancelled" };
  export type Outlook = { tag: "runs" | "needs-approval" } | { tag: "fails"; val: Failure };
  export interface Toolset {
    list(): Summary[];
    search(query: string, limit: number): Summary[];
    definition(tool: string): Callable | null | undefined;
    call(call: ToolCall): Success;
    callAll(calls: ToolCall[]): ({ tag: "ok"; val: Success } | { tag: "err"; val: Failure })[];
    foresee(calls: ToolCall[]): Outlook[];
    approve(calls: ToolCall[]): boolean[];
  }
  export function openTools(key: string): Toolset;
}

declare module "portcullis:tool/output" {
  import type { OutputStream } from "wasi:io/streams";
  export function openText(): OutputStream | null | undefined;
}
