// Keeps npm from starting programs. npm needs one only for a git repository or for a script of a package, and both would
// run code that came with a package. Node.js loads this file before npm.
"use strict";

const processes = require("node:child_process");

function refuse() {
  throw new Error("Portcullis does not let npm start programs. Is a dependency a git repository?");
}

// Every asynchronous function uses this method.
processes.ChildProcess.prototype.spawn = refuse;
processes.spawnSync = refuse;
processes.execSync = refuse;
processes.execFileSync = refuse;
// An ES module that was loaded before this file, for example by the user's NODE_OPTIONS, has bindings of its own to these
// functions. This updates them.
require("node:module").syncBuiltinESMExports();

// Exits if the host is killed, so that nothing continues to write into the work folder.
const parent = process.ppid;
setInterval(() => {
  if (process.ppid !== parent) {
    process.exit(1);
  }
}, 500).unref();
