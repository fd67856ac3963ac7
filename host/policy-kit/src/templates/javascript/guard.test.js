// Tests of `guard.js`; run `node --test` in this folder.

import assert from 'node:assert/strict';
import test from 'node:test';

import { told } from './guard.js';

const stage = told(
  function observe(value) {
    if (value === 'broken') {
      return JSON.parse('{many');
    }
    if (value === 'refused') {
      throw { tag: 'invalid-input', val: 'no' };
    }
    return value;
  },
  { summary: 'string', files: ['string'] },
);

test('what fits passes', () => {
  assert.deepEqual(stage({ summary: 'a', files: ['b'], more: 1 }), { summary: 'a', files: ['b'], more: 1 });
  assert.equal(stage(undefined), undefined);
});

test('an error is told with its place', () => {
  const place = /^SyntaxError: .*\n {2}at (?:observe|Object\.observe|observe@).*guard\.test\.js:\d+/s;
  assert.throws(() => stage('broken'), ({ tag, val }) => tag === 'internal' && place.test(val));
  assert.throws(() => stage('refused'), { tag: 'invalid-input', val: 'no' });
});

test('a wrong type is told with its field', () => {
  for (const [value, wrong] of [
    ['text', 'the result is string, not an object'],
    [null, 'the result is null, not an object'],
    [{ files: [] }, 'the result.summary is undefined, not string'],
    [{ summary: 'a', files: ['b', 7] }, 'the result.files[1] is number, not string'],
  ]) {
    assert.throws(() => stage(value), { tag: 'internal', val: `TypeError: observe returned a wrong type: ${wrong}` });
  }
});
