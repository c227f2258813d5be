import { tool } from "portcullis-sdk";

const ATTEMPTS = {
  length: (url) => fetch(url, { method: "POST", body: "body", headers: { "content-length": "99" } }),
  name: (url) => fetch(url, { headers: { "bad name": "x" } }),
  value: (url) => fetch(url, { headers: { good: "a\nb" } }),
  method: (url) => fetch(url, { method: "BAD METHOD" }),
  scheme: () => fetch("ftp://example.com"),
};

export const exchange = tool({
  name: "exchange",
  description: "Sends requests of which some are wrong.",
  arguments: {
    type: "object",
    properties: { url: { type: "string" }, how: { enum: Object.keys(ATTEMPTS) } },
    required: ["url", "how"],
  },
  requires: ["network"],
  async execute({ url, how }) {
    const response = await ATTEMPTS[how](url);
    return `${response.status} ${await response.text()}`;
  },
});
