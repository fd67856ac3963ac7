// Run `node --test` in this folder. No WebAssembly is needed.

import assert from 'node:assert/strict';
import test from 'node:test';

import { redactorOf } from './terms.js';

function redacted(text, terms, patterns = [], warnings = []) {
  const redact = redactorOf(terms, patterns, (message) => warnings.push(message));
  return redact(text).text ?? text;
}

const T = '[redacted:private-term]';
const P = '[redacted:private-pattern]';

test('terms are found in any case and at the ends of words', () => {
  assert.equal(redacted('Acme, ACME and acme; not acmeism, nor pacme', ['Acme']), `${T}, ${T} and ${T}; not acmeism, nor pacme`);
  assert.equal(redacted('ask db01.corp.example: up', ['DB01.corp.example']), `ask ${T}: up`);
  assert.equal(redacted('dbXcorp', ['db.corp']), 'dbXcorp');
  assert.equal(redacted('acme_1 acme1 acmeé', ['acme']), 'acme_1 acme1 acmeé');
});

test('any script', () => {
  assert.equal(redacted('한빛은행에서 온 요청, 주식회사한빛은행', ['한빛은행']), `${T}에서 온 요청, 주식회사${T}`);
  assert.equal(redacted('Acme에서 받은 키', ['acme']), `${T}에서 받은 키`);
  assert.equal(redacted('ПРИВЕТ МИР, мира', ['мир']), `ПРИВЕТ ${T}, мира`);
  assert.equal(redacted('Müller GmbH und MÜLLER', ['müller']), `${T} GmbH und ${T}`);
  assert.equal(redacted('株式会社日立の', ['日立']), `株式会社${T}の`);
  assert.equal(redacted('한빛.txt'.normalize('NFD'), ['한빛']), `${T}.txt`);
});

test('the longer term wins, and white space is any white space', () => {
  assert.equal(redacted('Acme Corp and Acme Corporation', ['Acme', 'Acme Corp']), `${T} and ${T} Corporation`);
  assert.equal(redacted('Acme\n  Corp', ['acme corp']), T);
});

test('patterns', () => {
  assert.equal(redacted('host-17 and host-x', [], ['host-\\d+']), `${P} and host-x`);
  assert.equal(redacted('KD-1 kd-2', [], ['(?:KD|kd)-\\d']), `${P} ${P}`);
  assert.equal(redacted('abc', [], ['[[a-c]--[b]]']), `${P}b${P}`);
  assert.equal(redacted('abc', [], ['x*']), 'abc');
});

test('what cannot be used is said and passed over', () => {
  const warnings = [];
  assert.equal(redacted('host-1 7', ['', 7], ['(', 'host-\\d', null], warnings), `${P} 7`);
  assert.equal(warnings.length, 4);
  assert.match(warnings[2], /^patterns\[0\] is not used: /);
  assert.equal(redacted('Acme', 'Acme', { a: 1 }), 'Acme');
});

test('placeholders stay as they are', () => {
  const text = '[redacted:aws-access-token] redacted term [redacted:private-term]';
  assert.equal(redacted(text, ['redacted', 'term', 'aws']), `[redacted:aws-access-token] ${T} ${T} [redacted:private-term]`);
  assert.equal(redacted('a [redacted:x] b', [], ['.+']), `${P}[redacted:x]${P}`);
  assert.equal(redacted('[redacted:x] [redacted:y]', [], ['.+']), '[redacted:x] [redacted:y]');
});

test('findings count and say nothing', () => {
  const redact = redactorOf(['Acme'], ['\\d{4}'], () => {});
  assert.deepEqual(redact('acme Acme 1234'), {
    text: `${T} ${T} ${P}`,
    findings: [{ rule: 'private-term', count: 2 }, { rule: 'private-pattern', count: 1 }],
  });
  assert.deepEqual(redact('nothing'), { text: undefined, findings: [] });
});

test('its own output is never altered', () => {
  const pieces = ['acme', 'Acme Corp', ' ', '한빛은행', 'foo', 'x', '1', ']', '[redacted:x]', '[redacted:', '\n', 'private-term'];
  const patterns = ['^foo', '(?<=\\]|a)foo', 'x.*1', '\\]x', '(?<=\\])\\s', '[^ ]+$', 'term', '(?<=\\]1*)1'];
  let seed = 1;
  const random = (below) => {
    seed = (seed * 48271) % 0x7fffffff;
    return seed % below;
  };
  for (let n = 0; n < 5000; n += 1) {
    const text = Array.from({ length: random(12) }, () => pieces[random(pieces.length)]).join('');
    const some = patterns.filter(() => random(3) === 0);
    const once = redacted(text, ['acme', 'acme corp', '한빛은행', 'private-term'], some);
    assert.equal(redacted(once, ['acme', 'acme corp', '한빛은행', 'private-term'], some), once, `${text} with ${some}`);
  }
});

test('a text that does not settle is withheld', () => {
  assert.equal(redacted(`]${'a'.repeat(50)}`, [], ['(?<=\\])a']), P);
});
