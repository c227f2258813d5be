// Node's paths and errors, over the directories that the host opened.

import { getDirectories } from "wasi:filesystem/preopens";
import type { Descriptor } from "wasi:filesystem/types";
import { payload } from "../failure.ts";
import { sendable } from "../sendable.ts";

/** The Node code and message of each host error. */
const ERRORS: Record<string, [code: string, words: string]> = {
  access: ["EACCES", "permission denied"],
  "bad-descriptor": ["EBADF", "bad file descriptor"],
  busy: ["EBUSY", "resource busy or locked"],
  exist: ["EEXIST", "file already exists"],
  "file-too-large": ["EFBIG", "file too large"],
  "illegal-byte-sequence": ["EILSEQ", "illegal byte sequence"],
  "insufficient-space": ["ENOSPC", "no space left on device"],
  invalid: ["EINVAL", "invalid argument"],
  io: ["EIO", "i/o error"],
  "is-directory": ["EISDIR", "illegal operation on a directory"],
  loop: ["ELOOP", "too many symbolic links encountered"],
  "name-too-long": ["ENAMETOOLONG", "name too long"],
  "no-entry": ["ENOENT", "no such file or directory"],
  "not-directory": ["ENOTDIR", "not a directory"],
  "not-empty": ["ENOTEMPTY", "directory not empty"],
  "not-permitted": ["EPERM", "operation not permitted"],
  quota: ["EDQUOT", "disk quota exceeded"],
  "read-only": ["EROFS", "read-only file system"],
  "too-many-links": ["EMLINK", "too many links"],
  unsupported: ["ENOTSUP", "operation not supported"],
  "cross-device": ["EXDEV", "cross-device link not permitted"],
};

/** An error as Node's file functions throw it. */
export class SystemError extends Error {
  override name = "Error";

  constructor(
    readonly code: string,
    words: string,
    readonly syscall: string,
    readonly path: string,
  ) {
    super(`${code}: ${words}, ${syscall} '${path}'`);
  }
}

/** Calls the host and converts its error to a Node error. */
export function attempt<T>(syscall: string, path: PathLike, act: () => T): T {
  try {
    return act();
  } catch (error) {
    const reason = payload(error);
    if (typeof reason !== "string") throw error;
    const [code, words] = ERRORS[reason] ?? ["EIO", reason.replaceAll("-", " ")];
    throw new SystemError(code, words, syscall, pathOf(path));
  }
}

/** A path, as Node's functions accept it. */
export type PathLike = string | { readonly href: string; readonly pathname: string };

export function pathOf(path: PathLike): string {
  if (typeof path === "object" && path !== null && "pathname" in path) return decodeURIComponent(path.pathname);
  return sendable(path as string, "the path");
}

/** A resolved path: a directory that the host opened, and the path below it. */
export interface Place {
  directory: Descriptor;
  path: string;
}

let opened: [parts: string[], Descriptor][] | undefined;

/** Resolves a path. A relative path starts at the root. */
export function place(syscall: string, path: PathLike): Place {
  const wanted = parts(pathOf(path));
  opened ??= getDirectories()
    .map(([directory, name]): [string[], Descriptor] => [parts(name), directory])
    .sort(([a], [b]) => b.length - a.length);
  for (const [prefix, directory] of opened) {
    if (prefix.every((part, index) => wanted[index] === part)) {
      return { directory, path: wanted.slice(prefix.length).join("/") || "." };
    }
  }
  throw new SystemError("ENOENT", "no such file or directory", syscall, pathOf(path));
}

function parts(path: string): string[] {
  const walked: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") walked.pop();
    else if (part !== "" && part !== ".") walked.push(part);
  }
  return walked;
}
