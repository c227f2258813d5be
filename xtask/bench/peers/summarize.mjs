// What both servers on Node share: how they find their packages, and what the JSON tool does.

import path from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";

// The packages are where the variable says, not beside this file.
const modules = process.env.PORTCULLIS_TEST_NODE_MODULES;
export const imported = (file) => import(pathToFileURL(path.join(modules, file)));

/** Returns the result of the tool for these orders. */
export function summarize(orders) {
  const items = {};
  for (const { item, count } of orders) items[item] = (items[item] ?? 0) + count;
  const text = `${orders.length} orders, ${Object.keys(items).length} kinds`;
  const structuredContent = { orders: orders.length, items, text };
  return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
}
