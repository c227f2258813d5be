// The JSON tool of the bench, on the low-level server of the official TypeScript SDK, without the validation of
// arguments and results. It is the least that a server on Node does, and isolates nothing.

import path from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";

// The packages are where the variable says, not beside this file.
const modules = process.env.PORTCULLIS_TEST_NODE_MODULES;
const imported = (file) => import(pathToFileURL(path.join(modules, file)));
const { Server } = await imported("@modelcontextprotocol/sdk/dist/esm/server/index.js");
const { StdioServerTransport } = await imported("@modelcontextprotocol/sdk/dist/esm/server/stdio.js");
const { CallToolRequestSchema } = await imported("@modelcontextprotocol/sdk/dist/esm/types.js");

const server = new Server({ name: "node", version: "0" }, { capabilities: { tools: {} } });
server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
  const { orders } = params.arguments;
  const items = {};
  for (const { item, count } of orders) items[item] = (items[item] ?? 0) + count;
  const text = `${orders.length} orders, ${Object.keys(items).length} kinds`;
  const structuredContent = { orders: orders.length, items, text };
  return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
});
await server.connect(new StdioServerTransport());
