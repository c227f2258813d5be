// The synchronous functions of `node:fs`, over the directories that the policy grants.

import type { Descriptor, DescriptorStat, DescriptorType, OpenFlags } from "wasi:filesystem/types";
import type { OutputStream } from "wasi:io/streams";
import { u64 } from "../engine/engine.ts";
import { payload } from "../failure.ts";
import { EngineDate } from "../engine/hooks.ts";
import { bytesOf, decode, encode } from "../globals/encoding.ts";
import { kindOf } from "../sendable.ts";
import { attempt, type PathLike, pathOf, place, SystemError } from "./files.ts";

/** Maximum bytes per read. */
const READ_BYTES = 65536;
/** Maximum bytes per write: what `wasi:io` guarantees to accept. */
const WRITE_BYTES = 4096;

const FOLLOW = { symlinkFollow: true };

export type Path = PathLike;
export type Encoding = "utf8" | "utf-8";
export type ReadOptions = Encoding | { encoding?: Encoding | null; flag?: "r" } | null;
export type WriteFlag = "w" | "w+" | "wx" | "wx+" | "a" | "a+" | "ax" | "ax+" | "r+";
export type WriteOptions = Encoding | { encoding?: Encoding | null; flag?: WriteFlag } | null;
export type Content = string | ArrayBuffer | ArrayBufferView;

function open(path: PathLike, open: OpenFlags, access: { read?: boolean; write?: boolean }): Descriptor {
  return attempt("open", path, () => {
    const { directory, path: below } = place("open", path);
    return directory.openAt(FOLLOW, below, open, access);
  });
}

export function readFileSync(path: PathLike, options: Encoding | { encoding: Encoding }): string;
export function readFileSync(path: PathLike, options?: { encoding?: null } | null): Uint8Array;
export function readFileSync(path: PathLike, options: ReadOptions = null): string | Uint8Array {
  const { encoding, flag = "r" } = checked(options);
  if (flag !== "r") throw new TypeError(`the flag ${String(flag)} is not supported for reading`);
  const bytes = readBytes(path);
  return encoding ? decode(bytes) : bytes;
}

/** Returns the options. An encoding, if present, must be UTF-8. */
function checked<F extends string>(given: Encoding | { encoding?: Encoding | null; flag?: F } | null) {
  const options = typeof given === "string" ? { encoding: given, flag: undefined } : (given ?? {});
  const { encoding } = options;
  if (encoding && !/^utf-?8$/i.test(encoding)) throw new TypeError(`the encoding ${encoding} is not supported`);
  return options;
}

function readBytes(path: PathLike): Uint8Array {
  using file = open(path, {}, { read: true });
  return attempt("read", path, () => {
    const { size, type } = file.stat();
    if (type === "directory") throw new SystemError("EISDIR", "illegal operation on a directory", "read", pathOf(path));
    using stream = file.readViaStream(u64(0));
    let bytes = new Uint8Array(Number(size));
    let length = 0;
    for (;;) {
      let chunk: Uint8Array;
      try {
        chunk = stream.blockingRead(u64(READ_BYTES));
      } catch (error) {
        if ((payload(error) as { tag?: string } | undefined)?.tag === "closed") return bytes.subarray(0, length);
        throw error;
      }
      if (length + chunk.length > bytes.length) {
        const larger = new Uint8Array(Math.max(2 * bytes.length, length + chunk.length));
        larger.set(bytes);
        bytes = larger;
      }
      bytes.set(chunk, length);
      length += chunk.length;
    }
  });
}

/** How to open a file for each of Node's flags, without the `+` that also requests reading. */
const WAYS: Record<string, OpenFlags> = {
  w: { create: true, truncate: true },
  wx: { create: true, exclusive: true },
  a: { create: true },
  ax: { create: true, exclusive: true },
  r: {},
};

export function writeFileSync(path: PathLike, content: Content, options: WriteOptions = null): void {
  put(path, content, checked(options).flag ?? "w");
}

export function appendFileSync(path: PathLike, content: Content, options: WriteOptions = null): void {
  put(path, content, checked(options).flag ?? "a");
}

function put(path: PathLike, content: Content, flag: WriteFlag): void {
  const way = flag === ("r" as string) ? undefined : WAYS[String(flag).replace(/\+$/, "")];
  if (way === undefined) throw new TypeError(`the flag ${String(flag)} is not supported for writing`);
  const isText = typeof content === "string";
  if (!isText && !(content instanceof ArrayBuffer) && !ArrayBuffer.isView(content)) {
    throw new TypeError(`the content has to be a string or bytes, and is ${kindOf(content)}`);
  }
  const bytes = isText ? encode(content) : bytesOf(content);
  using file = open(path, way, { write: true });
  write(path, () => (flag.startsWith("a") ? file.appendViaStream() : file.writeViaStream(u64(0))), bytes);
}

function write(path: PathLike, start: () => OutputStream, bytes: Uint8Array): void {
  attempt("write", path, () => {
    using stream = start();
    for (let from = 0; from < bytes.length; from += WRITE_BYTES) {
      try {
        stream.blockingWriteAndFlush(bytes.subarray(from, from + WRITE_BYTES));
      } catch (error) {
        throw new SystemError("EIO", "the host did not take it", "write", pathOf(path));
      }
    }
  });
}

export class Stats {
  readonly size: number;
  readonly mtimeMs: number;
  readonly atimeMs: number;
  readonly ctimeMs: number;
  readonly nlink: number;
  #type: DescriptorType;

  /** @internal */
  constructor(stat: DescriptorStat) {
    const time = (stamp: DescriptorStat["dataAccessTimestamp"]) =>
      stamp ? Number(stamp.seconds) * 1000 + stamp.nanoseconds / 1e6 : 0;
    this.#type = stat.type;
    this.size = Number(stat.size);
    this.nlink = Number(stat.linkCount);
    this.mtimeMs = time(stat.dataModificationTimestamp);
    this.atimeMs = time(stat.dataAccessTimestamp);
    this.ctimeMs = time(stat.statusChangeTimestamp);
  }

  get mtime(): Date {
    return new EngineDate(this.mtimeMs);
  }

  isFile(): boolean {
    return this.#type === "regular-file";
  }

  isDirectory(): boolean {
    return this.#type === "directory";
  }

  isSymbolicLink(): boolean {
    return this.#type === "symbolic-link";
  }
}

export function statSync(path: PathLike): Stats {
  return stat("stat", path, FOLLOW);
}

export function lstatSync(path: PathLike): Stats {
  return stat("lstat", path, {});
}

function stat(syscall: string, path: PathLike, flags: { symlinkFollow?: boolean }): Stats {
  return attempt(syscall, path, () => {
    const { directory, path: below } = place(syscall, path);
    return new Stats(directory.statAt(flags, below));
  });
}

export function existsSync(path: PathLike): boolean {
  try {
    statSync(path);
    return true;
  } catch {
    return false;
  }
}

export function accessSync(path: PathLike): void {
  stat("access", path, FOLLOW);
}

export class Dirent {
  #type: DescriptorType;

  /** @internal */
  constructor(
    readonly name: string,
    readonly parentPath: string,
    type: DescriptorType,
  ) {
    this.#type = type;
  }

  isFile(): boolean {
    return this.#type === "regular-file";
  }

  isDirectory(): boolean {
    return this.#type === "directory";
  }

  isSymbolicLink(): boolean {
    return this.#type === "symbolic-link";
  }
}

export interface ReaddirOptions {
  withFileTypes?: boolean;
  recursive?: boolean;
}

export function readdirSync(path: PathLike, options: ReaddirOptions & { withFileTypes: true }): Dirent[];
export function readdirSync(path: PathLike, options?: { withFileTypes?: false; recursive?: boolean }): string[];
export function readdirSync(path: PathLike, options: ReaddirOptions = {}): Dirent[] | string[] {
  const top = pathOf(path);
  const entries = list(top, options.recursive ?? false);
  if (options.withFileTypes) return entries;
  const below = top.replace(/\/+$/, "").length + 1;
  return entries.map(({ name, parentPath }) => `${parentPath}/${name}`.slice(below));
}

function list(path: string, recursive: boolean): Dirent[] {
  using directory = open(path, { directory: true }, { read: true });
  const parent = path.replace(/\/+$/, "");
  const entries = attempt("scandir", path, () => {
    using stream = directory.readDirectory();
    const found: Dirent[] = [];
    for (let entry = stream.readDirectoryEntry(); entry; entry = stream.readDirectoryEntry()) {
      found.push(new Dirent(entry.name, parent, entry.type));
    }
    return found.sort((a, b) => (a.name < b.name ? -1 : 1));
  });
  if (!recursive) return entries;
  const below = (entry: Dirent) => (entry.isDirectory() ? list(`${parent}/${entry.name}`, true) : []);
  return entries.flatMap((entry) => [entry, ...below(entry)]);
}

export function mkdirSync(path: PathLike, options: { recursive?: boolean } = {}): string | undefined {
  if (!options.recursive) {
    at("mkdir", path, (directory, below) => directory.createDirectoryAt(below));
    return undefined;
  }
  const { directory, path: below } = place("mkdir", path);
  if (below === ".") return undefined;
  const steps = below.split("/");
  steps.forEach((_, index) => makeOne(directory, steps.slice(0, index + 1).join("/"), path));
  return undefined;
}

/** Creates a directory unless it exists. */
function makeOne(directory: Descriptor, below: string, path: PathLike): void {
  attempt("mkdir", path, () => {
    try {
      directory.createDirectoryAt(below);
    } catch (error) {
      if (payload(error) !== "exist" || directory.statAt(FOLLOW, below).type !== "directory") throw error;
    }
  });
}

export function unlinkSync(path: PathLike): void {
  at("unlink", path, (directory, below) => directory.unlinkFileAt(below));
}

export function rmdirSync(path: PathLike): void {
  at("rmdir", path, (directory, below) => directory.removeDirectoryAt(below));
}

export interface RmOptions {
  recursive?: boolean;
  force?: boolean;
}

export function rmSync(path: PathLike, options: RmOptions = {}): void {
  let found: Stats;
  try {
    found = lstatSync(path);
  } catch (error) {
    if (options.force && error instanceof SystemError && error.code === "ENOENT") return;
    throw error;
  }
  if (!found.isDirectory()) return unlinkSync(path);
  const name = pathOf(path);
  if (!options.recursive) throw new SystemError("ERR_FS_EISDIR", "path is a directory", "rm", name);
  for (const entry of readdirSync(path)) rmSync(`${name}/${entry}`, options);
  rmdirSync(path);
}

export function renameSync(path: PathLike, to: PathLike): void {
  const target = place("rename", to);
  at("rename", path, (directory, below) => directory.renameAt(below, target.directory, target.path));
}

export function copyFileSync(path: PathLike, to: PathLike): void {
  writeFileSync(to, readBytes(path));
}

export function readlinkSync(path: PathLike): string {
  return at("readlink", path, (directory, below) => directory.readlinkAt(below));
}

function at<T>(syscall: string, path: PathLike, act: (directory: Descriptor, below: string) => T): T {
  return attempt(syscall, path, () => {
    const { directory, path: below } = place(syscall, path);
    return act(directory, below);
  });
}
