// The parts of `process` that common code reads. A plugin has no environment and no program arguments. The values are
// constants because packages read `process.env` during the build, without a host. The build replaces
// `process.env.NODE_ENV`.

export const process = {
  env: {} as Record<string, string | undefined>,
  argv: [] as string[],
  cwd: () => "/",
  platform: "wasi",
};
