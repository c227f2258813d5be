// The parts of WASI that the SDK uses, as the engines expose them to JavaScript.

declare module "wasi:io/poll" {
  export interface Pollable {
    block(): void;
    [Symbol.dispose](): void;
  }
  export function poll(pollables: Pollable[]): ArrayLike<number> & Iterable<number>;
}

declare module "wasi:io/streams" {
  import type { Pollable } from "wasi:io/poll";
  export interface InputStream {
    read(length: bigint): Uint8Array;
    blockingRead(length: bigint): Uint8Array;
    subscribe(): Pollable;
    [Symbol.dispose](): void;
  }
  export interface OutputStream {
    checkWrite(): bigint | number;
    write(bytes: Uint8Array): void;
    flush(): void;
    blockingWriteAndFlush(bytes: Uint8Array): void;
    subscribe(): Pollable;
    [Symbol.dispose](): void;
  }
}

declare module "wasi:clocks/monotonic-clock" {
  import type { Pollable } from "wasi:io/poll";
  export function now(): bigint | number;
  export function subscribeDuration(nanoseconds: bigint): Pollable;
}

declare module "wasi:clocks/wall-clock" {
  export interface Datetime {
    seconds: bigint | number;
    nanoseconds: number;
  }
  export function now(): Datetime;
}

declare module "wasi:random/random" {
  export function getRandomBytes(length: bigint): Uint8Array;
}

declare module "wasi:random/insecure" {
  export function getInsecureRandomBytes(length: bigint): Uint8Array;
}

declare module "wasi:cli/stdout" {
  import type { OutputStream } from "wasi:io/streams";
  export function getStdout(): OutputStream;
}

declare module "wasi:cli/stderr" {
  import type { OutputStream } from "wasi:io/streams";
  export function getStderr(): OutputStream;
}

declare module "wasi:cli/environment" {
  export function getEnvironment(): [string, string][];
  export function getArguments(): string[];
}

declare module "wasi:logging/logging" {
  export type Level = "trace" | "debug" | "info" | "warn" | "error" | "critical";
  export function log(level: Level, context: string, message: string): void;
}

declare module "wasi:config/store" {
  export function get(key: string): string | null | undefined;
}

declare module "wasi:keyvalue/store" {
  export interface Bucket {
    get(key: string): Uint8Array | null | undefined;
    set(key: string, value: Uint8Array): void;
    delete(key: string): void;
    exists(key: string): boolean;
    listKeys(cursor: bigint | number | null | undefined): { keys: string[]; cursor?: bigint | number | null };
  }
  export function open(identifier: string): Bucket;
}

declare module "wasi:filesystem/types" {
  import type { InputStream, OutputStream } from "wasi:io/streams";
  import type { Datetime } from "wasi:clocks/wall-clock";
  export type DescriptorType =
    | "unknown"
    | "block-device"
    | "character-device"
    | "directory"
    | "fifo"
    | "symbolic-link"
    | "regular-file"
    | "socket";
  export interface DescriptorStat {
    type: DescriptorType;
    linkCount: bigint | number;
    size: bigint | number;
    dataAccessTimestamp?: Datetime | null;
    dataModificationTimestamp?: Datetime | null;
    statusChangeTimestamp?: Datetime | null;
  }
  export interface PathFlags { symlinkFollow?: boolean }
  export interface OpenFlags { create?: boolean; directory?: boolean; exclusive?: boolean; truncate?: boolean }
  export interface DescriptorFlags { read?: boolean; write?: boolean; mutateDirectory?: boolean }
  export interface DirectoryEntryStream {
    readDirectoryEntry(): { type: DescriptorType; name: string } | null | undefined;
    [Symbol.dispose](): void;
  }
  export interface Descriptor {
    readViaStream(offset: bigint): InputStream;
    writeViaStream(offset: bigint): OutputStream;
    appendViaStream(): OutputStream;
    readDirectory(): DirectoryEntryStream;
    createDirectoryAt(path: string): void;
    stat(): DescriptorStat;
    statAt(flags: PathFlags, path: string): DescriptorStat;
    openAt(flags: PathFlags, path: string, open: OpenFlags, access: DescriptorFlags): Descriptor;
    readlinkAt(path: string): string;
    removeDirectoryAt(path: string): void;
    renameAt(path: string, other: Descriptor, otherPath: string): void;
    unlinkFileAt(path: string): void;
    [Symbol.dispose](): void;
  }
}

declare module "wasi:filesystem/preopens" {
  import type { Descriptor } from "wasi:filesystem/types";
  export function getDirectories(): [Descriptor, string][];
}

declare module "wasi:http/types" {
  import type { InputStream, OutputStream } from "wasi:io/streams";
  import type { Pollable } from "wasi:io/poll";
  export interface Variant { tag: string; val?: unknown }
  export class Fields {
    append(name: string, value: Uint8Array): void;
    entries(): [string, Uint8Array][];
  }
  export class OutgoingRequest {
    constructor(headers: Fields);
    body(): OutgoingBody;
    setMethod(method: Variant): void;
    setScheme(scheme: Variant): void;
    setAuthority(authority: string): void;
    setPathWithQuery(path: string): void;
  }
  export class OutgoingBody {
    write(): OutputStream;
    static finish(body: OutgoingBody, trailers: null): void;
  }
  export interface IncomingResponse {
    status(): number;
    headers(): Fields;
    consume(): IncomingBody;
  }
  export interface IncomingBody {
    stream(): InputStream;
    [Symbol.dispose](): void;
  }
  export interface FutureIncomingResponse {
    subscribe(): Pollable;
    get(): { tag: "ok" | "err"; val?: { tag: "ok" | "err"; val: any } } | null | undefined;
  }
}
