// Bundles a plugin's source with the SDK into one module, and writes the WIT world of what that module imports.
//
// node bundle.mjs FILE. FILE contains {"root", "source", "sdk", "contract", "modules", "engine", "out"}, all paths
// except `engine`. `out` is a folder, which gets `plugin.js`, its source map and `wit/`.

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { builtinModules, createRequire } from "node:module";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";

const { root, source, sdk, contract, modules, engine, out } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { build, formatMessages } = createRequire(join(modules, "/"))("esbuild");

// The host that initialises QuickJS implements WASI itself, and the contract's interfaces over WASI's resources would
// not link in it. A namespace of the same length hides them. The build restores the name in the finished component.
const NAMESPACE = engine === "quickjs" ? "wazi" : "wasi";

/** The version of each package of the contract. Imports in the SDK omit it. */
const versions = new Map();
const texts = new Map();
for (const file of ["tool.wit", ...readdirSync(join(contract, "deps")).map((name) => `deps/${name}`)]) {
  const text = readFileSync(join(contract, file), "utf8");
  const [, name, version] = /^package ([\w-]+:[\w-]+)@(\S+);/m.exec(text);
  versions.set(name, version);
  texts.set(file, text.replace(/\bwasi:/g, `${NAMESPACE}:`));
}

/** Keeps imports of the host as imports. */
const host = {
  name: "host",
  setup(build) {
    build.onResolve({ filter: /^(wasi|portcullis):/ }, ({ path }) => {
      const [bare] = path.split("@");
      const [name] = bare.split("/");
      if (!versions.has(name)) return { errors: [{ text: `the host does not provide \`${path}\`` }] };
      const full = `${bare}@${versions.get(name)}`.replace(/^wasi:/, `${NAMESPACE}:`);
      return { path: full, external: true, sideEffects: false };
    });
  },
};

/** Marks packages without side effects that do not declare it, so that the bundle contains only what is used. */
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
 * `import { z } from "zod"` imports all of zod, and half of that is error messages in fifty languages. Models read
 * English, so only English is bundled. Another language can be imported as `zod/v4/locales/de.js`.
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

/** Imports of Node's modules that a plugin does not have: the importing file, and the names. */
const absent = new Map();

const isOfNode = (path) => path.startsWith("node:") || builtinModules.includes(path);
const without = (name) => `a plugin has no \`${name}\` of Node's`;

/**
 * Resolves modules of Node. An installed package of the same name, such as `events`, replaces one; `buffer` always is
 * installed. An import of another module is an error if it is in the final bundle. A `require` of one throws when it is
 * reached, because packages that use optional modules expect that.
 */
const node = {
  name: "node",
  setup(build) {
    build.onResolve({ filter: /^(node:)?[\w/]+$/ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
      if (path in alias || pluginData === node || !isOfNode(path)) return undefined;
      const name = path.replace(/^node:/, "");
      const installed = await build.resolve(name, { kind, importer, resolveDir, pluginData: node });
      if (installed.errors.length === 0 && !installed.external) {
        // A package can declare in its `browser` field that it does not need the module.
        if (!isAbsolute(installed.path)) return { path: name, namespace: "left-out" };
        return name === "buffer" ? { ...installed, sideEffects: false } : installed;
      }
      if (kind === "require-call") return { path: name, namespace: "node" };
      absent.set(importer, (absent.get(importer) ?? new Set()).add(name));
      return { path: name, external: true, sideEffects: false };
    });
    build.onLoad({ filter: /./, namespace: "node" }, ({ path }) => {
      return { contents: `throw new Error(${JSON.stringify(without(path))});` };
    });
    build.onLoad({ filter: /./, namespace: "left-out" }, () => ({ contents: "" }));
  },
};

/** Returns whether the source also exports a review. Bundling reports syntax errors, so this ignores them. */
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

/** Globals of the engine that must come from the host, with a pattern that finds their use under another name. */
const provided = [
  { provide: "provideClock", from: inside("globals/clock.ts"), named: /\.Date\b|[{,]Date[:,}]/ },
  { provide: "provideRandom", from: inside("globals/random.ts"), named: /\.random\b|[{,]random[:,}]/ },
];

/** Returns the source of the entry module. */
function entry(providing) {
  const provide = providing.map(({ provide, from }) => `
    import { ${provide} } from ${JSON.stringify(from)};
    ${provide}();
  `);
  return `
    import ${JSON.stringify(inside("engine/prelude.ts"))};
    import plugin from ${JSON.stringify(source)};
    import { handler as exported } from ${JSON.stringify(inside("handler.ts"))};
    export const handler = exported(plugin);
    ${withReview ? review : ""}
    ${provide.join("")}
  `;
}

function bundle(contents) {
  return build({
    stdin: { contents, resolveDir: sdk, sourcefile: "entry.js" },
    outfile: join(out, "plugin.js"),
    bundle: true,
    format: "esm",
    // Use the browser builds of packages and their `browser` fields, because the builds for Node need its modules.
    platform: "browser",
    mainFields: ["browser", "module", "main"],
    conditions: ["worker", "browser"],
    target: "es2022",
    // The engine runs the jobs of its own promises too late, so async functions become generators over the SDK's.
    supported: { "async-await": false, "async-generator": false, "for-await": false, "top-level-await": false },
    define: { __ENGINE__: JSON.stringify(engine), "process.env.NODE_ENV": `"production"` },
    inject: [inside("globals/inject.ts")],
    alias,
    nodePaths: [modules],
    minify: true,
    keepNames: true,
    legalComments: "none",
    sourcemap: "external",
    sourcesContent: false,
    metafile: true,
    write: false,
    logLevel: "silent",
    plugins: [host, node, pure, locales],
  });
}

const isPackage = (path) => /^[@\w]/.test(path);
const packageOf = (path) => path.split("/").slice(0, path.startsWith("@") ? 2 : 1).join("/");

/** Returns the folder of a package as a file resolves it, or undefined if it is not installed. */
function installedFor(name, file) {
  const isThere = (folder) => existsSync(join(folder, "package.json"));
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const place = join(folder, "node_modules", name);
    if (isThere(place)) return place;
    if (folder === dirname(folder)) break;
  }
  return isThere(join(modules, name)) ? join(modules, name) : undefined;
}

/** Maximum number of a package's paths to show. */
const PATHS_SHOWN_MAX = 30;

/** Returns the paths that a package exports, or an empty list if it does not declare them. */
function pathsOf(folder) {
  const { name, exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const keys = exports !== null && typeof exports === "object" ? Object.keys(exports) : [];
  return keys.filter((key) => key.startsWith(".") && !key.endsWith(".json")).map((key) => `${name}${key.slice(1)}`);
}

const listed = (paths) => {
  const shown = paths.slice(0, PATHS_SHOWN_MAX).map((path) => `\`${path}\``).join(", ");
  return paths.length > PATHS_SHOWN_MAX ? `${shown} and ${paths.length - PATHS_SHOWN_MAX} more` : shown;
};

/** Prints the errors and exits. If a package is not installed, says how to install it. */
async function fail(errors) {
  const [missing, others, hints] = [new Map(), [], new Set()];
  for (const error of errors) {
    const [, path] = /^Could not resolve "(.+)"$/.exec(error.text) ?? [];
    const name = path !== undefined && isPackage(path) ? packageOf(path) : undefined;
    const folder = name === undefined ? undefined : installedFor(name, resolve(root, error.location?.file ?? "."));
    if (name !== undefined && folder === undefined) {
      missing.set(name, error.location?.file);
      continue;
    }
    // Drop esbuild's advice to keep the import, because a component cannot do that.
    others.push({ ...error, notes: error.notes.filter(({ text }) => !text.startsWith("You can mark the path")) });
    if (folder === undefined) continue;
    const paths = pathsOf(folder);
    const these = paths.length > 0 ? `: it exports ${listed(paths)}` : "";
    hints.add(`the package \`${name}\` is installed and has no \`${path}\` for a plugin${these}`);
  }
  for (const text of await formatMessages(others, { kind: "error" })) console.error(text.trimEnd());
  for (const hint of hints) console.error(hint);
  for (const [name, file] of missing) console.error(`${file}: the package \`${name}\` is not installed`);
  if (missing.size > 0) console.error(`run \`npm install ${[...missing.keys()].join(" ")}\` in ${root}`);
  process.exit(1);
}

/** Returns the paths of a file's package that are not for Node, judged by their names. */
function withoutNode(file) {
  const [before, below] = file.split(/[\\/]node_modules[\\/](?!.*[\\/]node_modules[\\/])/);
  if (below === undefined) return [];
  const folder = join(before, "node_modules", packageOf(below));
  if (!existsSync(join(folder, "package.json"))) return [];
  return pathsOf(folder).filter((path) => /\b(browser|web)\b/.test(path));
}

/** Bundles once, and again if the first bundle shows that the host has to provide more globals. */
async function bundleTwice() {
  const first = await bundle(entry([]));
  const providing = provided.filter(({ named }) => named.test(textOf(first)));
  return providing.length > 0 ? bundle(entry(providing)) : first;
}

const fileOf = (made, extension) => made.outputFiles.find(({ path }) => path.endsWith(extension)).text;
const textOf = (made) => fileOf(made, ".js");

let result;
try {
  result = await bundleTwice();
} catch (error) {
  if (error.errors === undefined) throw error;
  await fail(error.errors);
}
for (const text of await formatMessages(result.warnings, { kind: "warning" })) console.error(text.trimEnd());

const output = Object.values(result.metafile.outputs).find(({ entryPoint }) => entryPoint !== undefined);
const imports = output.imports.filter(({ external }) => external).map(({ path }) => path);

const left = imports.filter(isOfNode);
if (left.length > 0) {
  const others = new Set();
  for (const [importer, names] of absent) {
    const used = [...names].filter((name) => left.includes(name)).map((name) => `\`${name}\``);
    if (used.length === 0) continue;
    console.error(`${relative(root, importer)}: a plugin has no ${used.join(", ")} of Node's`);
    for (const path of withoutNode(importer)) others.add(path);
  }
  if (others.size > 0) console.error(`for browsers, its package has ${listed([...others])}`);
  console.error("a plugin has these modules of Node's: node:buffer, node:fs, node:fs/promises and node:path");
  process.exit(1);
}

mkdirSync(join(out, "wit", "deps"), { recursive: true });
for (const [file, text] of texts) writeFileSync(join(out, "wit", file), text);
const tool = `portcullis:tool@${versions.get("portcullis:tool")}`;
// In its own package an interface is referenced by its bare name.
const inPackage = (path) => (path.startsWith("portcullis:tool/") ? path.slice(16).split("@")[0] : path);
const world = [...new Set(imports)].sort().map((path) => `  import ${inPackage(path)};\n`);
const exported = ["handler", ...(withReview ? ["reviewer"] : [])].map((name) => `  export ${name};\n`);
const text = `package ${tool};\n\nworld javascript {\n${[...world, ...exported].join("")}}\n`;
writeFileSync(join(out, "wit", "world.wit"), text);
writeFileSync(join(out, "plugin.js"), textOf(result));
writeFileSync(join(out, "plugin.js.map"), fileOf(result, ".map"));
