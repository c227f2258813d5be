// Builds a component from a bundle with StarlingMonkey.
//
// node componentize.mjs FILE. FILE contains {"root", "modules", "bundle", "wit", "world", "out"}, all paths except
// `world`.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { explain, explainNoHost } from "./explain.mjs";

const { root, modules, bundle, wit, world, out } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const library = join(modules, "@bytecodealliance/componentize-js/src/componentize.js");
const { componentize } = await import(pathToFileURL(library));

// Disable the engine's own clocks, randomness, printing and requests: the SDK provides all of them over the contract.
const disableFeatures = ["clocks", "fetch-event", "http", "random", "stdio"];
try {
  const { component } = await componentize({ sourcePath: bundle, witPath: wit, worldName: world, disableFeatures });
  writeFileSync(out, component);
} catch (error) {
  const [, place, name] = /unknown imported function: '([^']+)' '([^']+)'/.exec(error.message) ?? [];
  if (place !== undefined) explainNoHost(`${place}#${name}`);
  explain(error.message, bundle, root);
}
