// The JSON tool of the bench, as a server on the official TypeScript SDK. Its arguments are those of the guest, and its
// result has the same members. It isolates nothing.

import path from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";

// The packages are where the variable says, not beside this file.
const modules = process.env.PORTCULLIS_TEST_NODE_MODULES;
const imported = (file) => import(pathToFileURL(path.join(modules, file)));
const { McpServer } = await imported("@modelcontextprotocol/server/dist/index.mjs");
const { StdioServerTransport } = await imported("@modelcontextprotocol/server/dist/stdio.mjs");
const z = await imported("zod/index.js");

const order = z.object({ item: z.string(), count: z.number().int().min(0) });
const summary = z.object({ orders: z.number(), items: z.record(z.string(), z.number()), text: z.string() });

const server = new McpServer({ name: "node", version: "0" });
server.registerTool(
  "json__summarize",
  {
    description: "Counts the items of orders.",
    inputSchema: z.object({ orders: z.array(order) }),
    outputSchema: summary,
  },
  async ({ orders }) => {
    const items = {};
    for (const { item, count } of orders) items[item] = (items[item] ?? 0) + count;
    const text = `${orders.length} orders, ${Object.keys(items).length} kinds`;
    const structuredContent = { orders: orders.length, items, text };
    return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
  },
);
await server.connect(new StdioServerTransport());
