// The JSON tool of the bench, on the low-level server of the official TypeScript SDK, without the validation of
// arguments and results. It is the least that a server on Node does, and isolates nothing.

import { imported, summarize } from "./summarize.mjs";

const { Server } = await imported("@modelcontextprotocol/sdk/dist/esm/server/index.js");
const { StdioServerTransport } = await imported("@modelcontextprotocol/sdk/dist/esm/server/stdio.js");
const { CallToolRequestSchema } = await imported("@modelcontextprotocol/sdk/dist/esm/types.js");

const server = new Server({ name: "node", version: "0" }, { capabilities: { tools: {} } });
server.setRequestHandler(CallToolRequestSchema, async ({ params }) => summarize(params.arguments.orders));
await server.connect(new StdioServerTransport());
