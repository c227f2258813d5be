// The plugin of this component, for the parts of the SDK that depend on its declarations.

import type { Plugin } from "./tool.ts";

let plugin: Plugin | undefined;

export function setManifest(running: Plugin): void {
  plugin = running;
}

/** The keys of the HTTP clients that the plugin declares, in order of declaration. */
export function httpKeys(): string[] {
  const entries = Object.entries(plugin?.dependencies ?? {});
  return entries.filter(([, dependency]) => dependency.kind === "http").map(([key]) => key);
}
