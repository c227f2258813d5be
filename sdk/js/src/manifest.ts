// The plugin that this component is, for the parts of the SDK that act by what it asks for.

import type { Plugin } from "./tool.ts";

let plugin: Plugin | undefined;

export function setManifest(running: Plugin): void {
  plugin = running;
}

/** The keys of the HTTP clients that the plugin asks for, in its order. */
export function httpKeys(): string[] {
  const entries = Object.entries(plugin?.dependencies ?? {});
  return entries.filter(([, dependency]) => dependency.kind === "http").map(([key]) => key);
}
