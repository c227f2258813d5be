// `node:path`: paths of the host have `/` between their parts.

import path from "path-browserify";

export const { basename, delimiter, dirname, extname, format, isAbsolute } = path;
export const { join, normalize, parse, relative, sep } = path;

/** As in Node, from the root: a plugin has no other current directory. */
export function resolve(...paths: string[]): string {
  return path.resolve("/", ...paths);
}

export default { ...path, resolve };
