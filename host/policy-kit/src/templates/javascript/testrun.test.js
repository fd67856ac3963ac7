// Tests of `testrun.js`; run `node --test` in this folder.

import assert from 'node:assert/strict';
import test from 'node:test';

import { observed } from './testrun.js';

const run = (output, command = 'npm test', tool = 'Bash') =>
  observed({ tool, input: JSON.stringify({ command }), output }, ['npm test']);

test('failures are kept', () => {
  const stdout = 'ok 1 - adds\nnot ok 2 - divides\n  error: by zero\nnot ok 3 - rounds\n';
  assert.deepEqual(run(JSON.stringify({ stdout, stderr: '' })), {
    summary: '`npm test`: 2 failed',
    detail: 'not ok 2 - divides\nnot ok 3 - rounds',
  });
  assert.equal(run('ok 1 - adds').summary, '`npm test`: no test failed');
});

test('other tool calls are ignored', () => {
  assert.equal(run('not ok', 'ls'), undefined);
  assert.equal(run('not ok', 'npm test', 'Read'), undefined);
  assert.equal(observed({ tool: 'Bash', input: 'no JSON', output: '' }, ['']), undefined);
});
