// Builds a component from a bundle with QuickJS.
//
// node quickjs.mjs FILE. FILE contains {"root", "modules", "bundle", "wit", "world", "runtime", "out"}, all paths
// except `world`.

import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { explain, explainNoHost } from "./explain.mjs";

const { root, modules, bundle, wit, world, runtime, out } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { componentize } = createRequire(join(modules, "/"))("componentize-qjs");

try {
  const jsSource = readFileSync(bundle, "utf8");
  const { component } = await componentize({ witPath: wit, world, jsSource, runtime });
  writeFileSync(out, component);
} catch (error) {
  // Report a call of the host, which does not exist during the build. Otherwise, remove the engine's own frames.
  const [, asked] = /unknown import: `([^`]+)`/.exec(error.message) ?? [];
  if (asked !== undefined) explainNoHost(asked.replace("wazi:", "wasi:"));
  explain(error.message.replace(/^.*module evaluation: /s, "").replace(/^ *\d+: +0x.*\n/gm, ""), bundle, root);
}
