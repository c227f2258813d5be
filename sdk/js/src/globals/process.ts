// The little of `process` that ordinary code asks for. A plugin has no environment and no program arguments, so that
// the host is not asked: packages look at `process.env` before there is one. The build answers `process.env.NODE_ENV`.

export const process = {
  env: {} as Record<string, string | undefined>,
  argv: [] as string[],
  cwd: () => "/",
  platform: "wasi",
};
