/** The packages of `xtask/clients/node`, which are not in a folder above this one. */

import { createRequire } from "node:module";
import { join } from "node:path";

const folder = process.env.PORTCULLIS_TEST_NODE_MODULES;
if (folder === undefined) {
  console.error("PORTCULLIS_TEST_NODE_MODULES is not set: run `cargo xtask test`");
  process.exit(2);
}

const require = createRequire(join(folder, "from-here.js"));

export const {
  ProtocolError,
  ProtocolErrorCode,
  Server,
  WebStandardStreamableHTTPServerTransport,
  createMcpHandler,
  inputRequired,
} = require("@modelcontextprotocol/server");
export const { serve } = require("@hono/node-server");
