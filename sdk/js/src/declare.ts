// The functions that declare tools and plugins.

import { checkPlugin, checkTool } from "./check.ts";
import type { Schema } from "./schema.ts";
import type { Plugin, PluginOptions, Tool, ToolOptions } from "./tool.ts";

/** Creates a tool. Throws if an option is unknown or invalid. */
export function tool<const S extends Schema, const O extends Schema | undefined = undefined>(
  options: ToolOptions<S, O>,
): Tool {
  checkTool(options);
  return options;
}

/** Creates a plugin. Make it the default export of the source. Throws if an option is unknown or invalid. */
export function plugin(options: PluginOptions): Plugin {
  checkPlugin(options);
  return options;
}
