import { mkdir, readdir, readFile, stat, unlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Failed, tool } from "portcullis-sdk";
import * as z from "zod";

const path = z.string().describe("A path below the workspace.");

async function attempt<T>(what: string, path: string, work: (path: string) => Promise<T>): Promise<T> {
  try {
    return await work(join("/workspace", path));
  } catch (error) {
    throw new Failed(`cannot ${what} ${path}: ${error instanceof Error ? error.message : error}`);
  }
}

export const read = tool({
  name: "read",
  description: "Reads a text file of the workspace.",
  arguments: z.object({ path }),
  requires: ["read"],
  hints: ["read-only", "idempotent"],
  execute: ({ path }) => attempt("read", path, (file) => readFile(file, "utf8")),
});

export const write = tool({
  name: "write",
  description: "Creates or replaces a text file of the workspace.",
  arguments: z.object({ path, text: z.string().describe("What the file holds afterwards.") }),
  requires: ["read", "write"],
  hints: ["destructive", "idempotent"],
  execute: ({ path, text }) =>
    attempt("write", path, async (file) => {
      const bytes = new TextEncoder().encode(text);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, bytes);
      return `wrote ${bytes.length} bytes`;
    }),
});

export const list = tool({
  name: "list",
  description: "Lists a directory of the workspace.",
  arguments: z.object({ path: z.string().describe("A directory below the workspace; `.` is the workspace itself.") }),
  requires: ["read"],
  hints: ["read-only", "idempotent"],
  execute: ({ path }) =>
    attempt("list", path, async (directory) => {
      const names = await readdir(directory);
      const entries = names.map(async (name) => {
        const found = await stat(join(directory, name));
        return found.isDirectory() ? { name, kind: "directory", size: 0 } : { name, kind: "file", size: found.size };
      });
      return { entries: (await Promise.all(entries)).sort((a, b) => compare(a.name, b.name)) };
    }),
});

/** The order of the bytes of UTF-8, which is that of the characters and not that of JavaScript's code units. */
function compare(a: string, b: string): number {
  const [left, right] = [[...a], [...b]];
  const differs = left.findIndex((character, index) => character !== right[index]);
  if (differs < 0) return left.length - right.length;
  return (left[differs]?.codePointAt(0) ?? 0) - (right[differs]?.codePointAt(0) ?? -1);
}

export const remove = tool({
  name: "remove",
  description: "Removes a file of the workspace.",
  arguments: z.object({ path }),
  requires: ["read", "write"],
  hints: ["destructive"],
  execute: ({ path }) =>
    attempt("remove", path, async (file) => {
      await unlink(file);
      return "removed";
    }),
});
