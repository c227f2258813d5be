// Bundles a plugin's source with the SDK into one module, and writes the WIT world of what that module imports.
//
// node bundle.mjs FILE, which holds {"source", "sdk", "contract", "modules", "engine", "out"}: paths, but for `engine`.
// `out` is a folder; it gets `plugin.js` and `wit/`.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const { source, sdk, contract, modules, engine, out } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { build } = createRequire(join(modules, "/"))("esbuild");

// QuickJS is initialised by a host that knows WASI, in which the contract's own interfaces over WASI's resources would
// not link. A namespace of the same length hides them; the build puts the name back into the finished component.
const NAMESPACE = engine === "quickjs" ? "wazi" : "wasi";

/** The version of each package of the contract, which imports in the SDK leave out. */
const versions = new Map();
const texts = new Map();
for (const file of ["tool.wit", ...readdirSync(join(contract, "deps")).map((name) => `deps/${name}`)]) {
  const text = readFileSync(join(contract, file), "utf8");
  const [, name, version] = /^package ([\w-]+:[\w-]+)@(\S+);/m.exec(text);
  versions.set(name, version);
  texts.set(file, text.replace(/\bwasi:/g, `${NAMESPACE}:`));
}

/** Imports of the host stay imports. */
const host = {
  name: "host",
  setup(build) {
    build.onResolve({ filter: /^(wasi|portcullis):/ }, ({ path }) => {
      const [bare] = path.split("@");
      const [name] = bare.split("/");
      if (!versions.has(name)) return { errors: [{ text: `the host serves no \`${path}\`` }] };
      const full = `${bare}@${versions.get(name)}`.replace(/^wasi:/, `${NAMESPACE}:`);
      return { path: full, external: true, sideEffects: false };
    });
  },
};

/** Packages that do nothing when they are loaded and do not say so: only what is used of them goes into the bundle. */
const pure = {
  name: "pure",
  setup(build) {
    build.onResolve({ filter: /^whatwg-url-minimum$/ }, async ({ path, ...options }) => {
      if (options.pluginData === pure) return undefined;
      const resolved = await build.resolve(path, { ...options, pluginData: pure });
      return { ...resolved, sideEffects: false };
    });
  },
};

/**
 * `import { z } from "zod"` asks for all of zod, of which half are the error messages in fifty languages. A model reads
 * English; another language is still there as `zod/v4/locales/de.js`.
 */
const locales = {
  name: "locales",
  setup(build) {
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => {
      return { contents: `export { default as en } from "./en.js";` };
    });
  },
};

const inside = (path) => join(sdk, "src", path);
const modulesOfNode = { fs: "node/fs.ts", "fs/promises": "node/fs-promises.ts", path: "node/path.ts" };
const alias = { "portcullis-sdk": inside("index.ts") };
for (const [name, path] of Object.entries(modulesOfNode)) {
  alias[name] = alias[`node:${name}`] = inside(path);
}

/** What Node has and a plugin does not: a message that says what there is. */
const node = {
  name: "node",
  setup(build) {
    build.onResolve({ filter: /^node:/ }, ({ path }) => {
      if (path in alias) return undefined;
      const there = "node:fs, node:fs/promises and node:path";
      return { errors: [{ text: `a plugin has no \`${path}\`; of Node's modules there are ${there}` }] };
    });
  },
};

/** Whether the source exports a review beside its plugin. What it does not parse as is told by the bundling. */
async function reviews() {
  try {
    const quiet = { write: false, logLevel: "silent" };
    const { metafile } = await build({ entryPoints: [source], outdir: out, format: "esm", metafile: true, ...quiet });
    return Object.values(metafile.outputs).some(({ exports }) => exports.includes("review"));
  } catch {
    return false;
  }
}

const withReview = await reviews();
const review = `
  import { review } from ${JSON.stringify(source)};
  import { reviewer as reviewing } from ${JSON.stringify(inside("review.ts"))};
  export const reviewer = reviewing(review);
`;
const entry = `
  import ${JSON.stringify(inside("engine/prelude.ts"))};
  import plugin from ${JSON.stringify(source)};
  import { handler as exported } from ${JSON.stringify(inside("handler.ts"))};
  export const handler = exported(plugin);
  ${withReview ? review : ""}
`;

let result;
try {
  result = await build({
    stdin: { contents: entry, resolveDir: sdk, sourcefile: "entry.js" },
    bundle: true,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    conditions: ["worker", "browser"],
    target: "es2022",
    // The engine runs the jobs of its own promises too late: async functions become generators over the SDK's.
    supported: { "async-await": false, "async-generator": false, "for-await": false, "top-level-await": false },
    define: { __ENGINE__: JSON.stringify(engine) },
    inject: [inside("globals/inject.ts")],
    alias,
    nodePaths: [modules],
    minify: true,
    keepNames: true,
    legalComments: "none",
    metafile: true,
    write: false,
    logLevel: "warning",
    plugins: [host, node, pure, locales],
  });
} catch (error) {
  // esbuild has shown its errors.
  if (error.errors === undefined) throw error;
  process.exit(1);
}

const [output] = Object.values(result.metafile.outputs);
const imports = output.imports.filter(({ external }) => external).map(({ path }) => path);

mkdirSync(join(out, "wit", "deps"), { recursive: true });
for (const [file, text] of texts) writeFileSync(join(out, "wit", file), text);
const tool = `portcullis:tool@${versions.get("portcullis:tool")}`;
// Within its own package an interface goes by its bare name.
const inPackage = (path) => (path.startsWith("portcullis:tool/") ? path.slice(16).split("@")[0] : path);
const world = [...new Set(imports)].sort().map((path) => `  import ${inPackage(path)};\n`);
const exported = ["handler", ...(withReview ? ["reviewer"] : [])].map((name) => `  export ${name};\n`);
const text = `package ${tool};\n\nworld javascript {\n${[...world, ...exported].join("")}}\n`;
writeFileSync(join(out, "wit", "world.wit"), text);
writeFileSync(join(out, "plugin.js"), result.outputFiles[0].text);
