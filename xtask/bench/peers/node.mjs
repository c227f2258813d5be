// The JSON tool of the bench, as a server on the official TypeScript SDK. Its arguments are those of the guest, and its
// result has the same members. It isolates nothing.

import { imported, summarize } from "./summarize.mjs";

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
  async ({ orders }) => summarize(orders),
);
await server.connect(new StdioServerTransport());
