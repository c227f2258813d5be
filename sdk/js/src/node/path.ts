// `node:path`. The host's paths use `/` as the separator.

import path from "path-browserify";

export const { basename, delimiter, dirname, extname, format, isAbsolute } = path;
export const { join, normalize, parse, relative, sep } = path;

/** Resolves paths as Node does. The current directory of a plugin is always the root. */
export function resolve(...paths: string[]): string {
  return path.resolve("/", ...paths);
}

export default { ...path, resolve };
