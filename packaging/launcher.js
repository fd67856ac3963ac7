#!/usr/bin/env node
// Starts the native program of this machine's package. Agents never call this file: `throughline install` registers the native program.
"use strict";
const { spawnSync } = require("node:child_process");

const name = `@throughline/${process.platform}-${process.arch}`;
const suffix = process.platform === "win32" ? ".exe" : "";
let program;
try {
  program = require.resolve(`${name}/bin/throughline${suffix}`);
} catch {
  console.error(`error: there is no package ${name}, so Throughline has no program for this machine
hint: if npm was told to leave out optional dependencies, install again without that; otherwise build from source`);
  process.exit(1);
}
const run = spawnSync(program, process.argv.slice(2), { stdio: "inherit" });
if (run.error) {
  console.error(`error: ${program} cannot be started: ${run.error.message}`);
  process.exit(1);
}
if (run.signal) process.kill(process.pid, run.signal);
process.exit(run.status ?? 1);
