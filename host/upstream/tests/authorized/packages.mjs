/** The npm packages of the servers. They are not beside this script, so the environment names their folder. */

import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const folder = process.env.NODE_MODULES_FOLDER ?? process.env.PORTCULLIS_TEST_SERVER_MODULES;
if (folder === undefined) {
  console.error("NODE_MODULES_FOLDER is not set: set it to the folder of the packages of xtask/clients/servers");
  process.exit(2);
}

const require = createRequire(join(folder, "from-here.js"));

export const { Provider, errors } = await import(pathToFileURL(require.resolve("oidc-provider")));
export const { Server } = require("@modelcontextprotocol/sdk/server/index.js");
export const { StreamableHTTPServerTransport } = require("@modelcontextprotocol/sdk/server/streamableHttp.js");
export const { createMcpExpressApp } = require("@modelcontextprotocol/sdk/server/express.js");
export const { CallToolRequestSchema, ListToolsRequestSchema } = require("@modelcontextprotocol/sdk/types.js");
