// The little of `process` that ordinary code asks for. A plugin has no environment and no program arguments.

import { getArguments, getEnvironment } from "wasi:cli/environment";

export const process = {
  get env(): Record<string, string | undefined> {
    return Object.fromEntries(getEnvironment());
  },
  get argv(): string[] {
    return getArguments();
  },
  cwd: () => "/",
  platform: "wasi",
};
