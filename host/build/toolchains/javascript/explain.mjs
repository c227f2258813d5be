// Explains errors at the top level of a source to its author.

import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { dirname, relative, resolve } from "node:path";

/** The remedy for a call of the host during the build. */
const NO_HOST =
  "the top level of a source runs while the component is built, where there is no host: no clock, no randomness, no " +
  "files and no printing; move code that needs them into a tool";

/** Stack frames of the SDK, which do not help the author. */
const OWN = /(^|\/)sdk\/(js\/)?src\//;

/** Prints an engine's message with positions in the sources instead of the bundle, and exits. */
export function explain(words, bundle, root) {
  const map = new SourceMap(JSON.parse(readFileSync(`${bundle}.map`, "utf8")));
  const shown = words.split("\n").map((line) => {
    const [position, row, column] = /\b(?:componentize-qjs:user|plugin)\.js:(\d+):(\d+)/.exec(line) ?? [];
    // QuickJS reports the first character of the bundle if it does not know the position.
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

/** Prints the error for a call of the host, and exits. */
export function explainNoHost(asked) {
  console.error(`the top level of the source calls ${asked} of the host\n${NO_HOST}`);
  process.exit(1);
}
