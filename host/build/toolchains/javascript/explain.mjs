// What went wrong at the top level of a source, for the person who wrote it.

import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { dirname, relative, resolve } from "node:path";

/** What helps where the host was asked for something that is not there yet. */
const NO_HOST =
  "the top level of a source runs while the component is built, where there is no host: no clock, no randomness, no " +
  "files and no printing; move into a tool what needs them";

/** The frames of the SDK are of no use to its reader. */
const OWN = /(^|\/)sdk\/(js\/)?src\//;

/** Shows words of an engine with positions in the sources in place of those in the bundle, and ends. */
export function explain(words, bundle, root) {
  const map = new SourceMap(JSON.parse(readFileSync(`${bundle}.map`, "utf8")));
  const shown = words.split("\n").map((line) => {
    const [position, row, column] = /\b(?:componentize-qjs:user|plugin)\.js:(\d+):(\d+)/.exec(line) ?? [];
    // QuickJS gives the first character of the bundle where it knows none.
    if (position === undefined) return line;
    if (row === "1" && column === "1") return line.replace(/ \(.*\)/, "");
    const { originalSource, originalLine, originalColumn } = map.findEntry(row - 1, column - 1);
    if (originalSource === undefined) return line;
    const file = relative(root, resolve(dirname(bundle), originalSource));
    return OWN.test(file) ? null : line.replace(position, `${file}:${originalLine + 1}:${originalColumn + 1}`);
  });
  console.error(shown.filter((line) => line !== null && !/entry\.js:\d/.test(line)).join("\n").trim());
  process.exit(1);
}

/** The same for a question to the host. */
export function explainNoHost(asked) {
  console.error(`the top level of the source asks the host for ${asked}\n${NO_HOST}`);
  process.exit(1);
}
