// Policies: which of them run for each stage, and what they were granted.

import { facts, h, said, show, table } from '../dom.js';

export async function render(context) {
  const listed = await context.ask('policies', { project: context.project });
  const stage = (it) => [h('strong', {}, it.stage), it.by.length === 0 ? h('span', { class: 'quiet' }, 'none')
    : h('ol', {}, it.by.map((by) => h('li', {}, said(by.policy), h('span', { class: 'quiet' }, ` (${by.source}${by.mode ? `, ${by.mode}` : ''}${by.only_if_needed ? ', only if those before it give no answer' : ''})`))))];
  const policy = (it) => h('li', { 'data-item': true }, h('h2', {}, said(it.name), ' ', said(it.version)),
    h('p', {}, said(it.description)),
    !it.runs && h('p', { class: 'bad' }, 'It does not run: ', said(it.what ?? it.why_not), it.hint && [' What to do: ', said(it.hint)]),
    facts([['from', it.source], ['folder', said(it.folder, { class: 'code' })], ['digest', said(it.digest, { class: 'code' })], ['stages', it.stages.join(', ')],
      ['asks for', it.asks_for.length ? it.asks_for.join(', ') : 'nothing'], ['granted', it.granted.length ? it.granted.join(', ') : 'nothing'],
      ['failures', it.failures > 0 ? `${it.failures}, ${it.failures_in_a_row} in a row` : 'none']]));
  show(context.main, h('h1', {}, 'Policies'),
    !context.project && h('p', { class: 'quiet' }, 'For a session outside of any project. Choose a project to see what runs there.'),
    listed.blocked && h('p', { class: 'problem' }, said(listed.blocked)),
    table('Who answers each stage, in order', [['Stage'], ['Policies']], listed.stages.map(stage)),
    h('h2', {}, 'Installed policies'),
    listed.policies.length ? h('ul', { class: 'results' }, listed.policies.map(policy)) : h('p', { class: 'quiet' }, 'Only the built-in default policy.'),
    listed.broken.length > 0 && [h('h2', {}, 'Broken'), h('ul', {}, listed.broken.map((it) => h('li', { class: 'bad' }, said(Object.values(it).filter((value) => typeof value === 'string').join(': ')))))]);
}
