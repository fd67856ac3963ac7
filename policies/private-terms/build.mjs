// Builds the component: `node build.mjs OUTPUT WORLD`.

import { writeFile } from 'node:fs/promises';

import { componentize } from '@bytecodealliance/componentize-js';

const [output, worldName] = process.argv.slice(2);
const { component } = await componentize({
  sourcePath: 'policy.js',
  witPath: 'wit',
  worldName,
  // With all features off, the component needs nothing from WASI: no clock, no randomness, no output, no network.
  disableFeatures: ['clocks', 'fetch-event', 'http', 'random', 'stdio'],
});
await writeFile(output, component);
