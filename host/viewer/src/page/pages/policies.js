// Policies: which of them run for each stage, what they were granted, and two of them on one session side by side.

import { facts, h, said, show, table } from '../dom.js';
import { ago, plural } from '../format.js';

/** How many sessions can be chosen from. */
const SESSIONS = 50;

const kind = (it) => h('span', { class: 'small quiet' }, ` ${it.kind.replaceAll('_', ' ')}`);

/** The identity of a memory, as far as the answers name it. */
const same = (a, b) => a.title === b.title && a.kind === b.kind;

/** One side: what was remembered, the summary, and what the next session is told. Lines that the other side has not are marked. */
function side(place, name, answer, other, millis) {
  const lines = new Set(other.page.split('\n'));
  const page = answer.page.split('\n').map((line) => h('div', { class: line.trim() && !lines.has(line) ? 'only' : null }, said(line || '\u00a0')));
  const memories = answer.memories.map((it) => h('li', { class: other.memories.some((its) => same(it, its)) ? null : 'only' }, said(it.title), kind(it)));
  return h('section', { 'aria-label': `${place}: ${name}` }, h('h3', {}, said(name)),
    h('p', { class: 'small quiet' }, `${plural(answer.memories.length, 'memory', 'memories')}, ${Math.round(millis)} ms`),
    h('h4', {}, 'Remembered'), memories.length ? h('ol', { class: 'answer' }, memories) : h('p', { class: 'quiet' }, 'Nothing.'),
    h('h4', {}, 'Summary'), answer.summary.text ? h('p', { class: answer.summary.text === other.summary.text ? null : 'only' }, said(answer.summary.text)) : h('p', { class: 'quiet' }, 'None.'),
    h('h4', {}, 'What the next session is told'), answer.page ? h('div', { class: 'answer page' }, page) : h('p', { class: 'quiet' }, 'Nothing.'));
}

const list = (items, one) => (items.length ? h('ul', {}, items.map((it) => h('li', {}, one(it)))) : 'none');

/** What differs, stage by stage. */
function differences(difference) {
  const rows = [];
  const { extractor, summarizer, redactor } = difference;
  if (extractor) {
    const { only_before: before, only_after: after, changed, notes } = extractor;
    const draft = (it) => [said(it.title), kind(it)];
    rows.push(['extractor', [h('p', {}, `${plural(before.length, 'memory', 'memories')} only on the left, ${after.length} only on the right, ${changed.length} changed`),
      changed.length > 0 && list(changed, (it) => [draft(it.after), ` (${it.fields.join(', ')})`]), notes.length > 0 && h('p', {}, `Notes: ${notes.map((it) => it.field).join(', ')}`)]]);
  }
  if (summarizer) rows.push(['summarizer', 'another summary']);
  if (redactor) {
    const rules = (counts) => Object.entries(counts).map(([rule, count]) => `${rule} ${count}×`).join(', ') || 'none';
    rows.push(['redactor', `${redactor.different} of ${redactor.texts} texts differ; more often on the left: ${rules(redactor.only_before)}; on the right: ${rules(redactor.only_after)}`]);
  }
  const page = difference['context-builder'];
  if (page) rows.push(['context-builder', `${page.units_before} and ${page.units_after} UTF-16 units`]);
  return rows.length ? table('What differs', [['Stage'], ['Difference']], rows) : h('p', { class: 'good', id: 'same' }, 'Both give the same answer at every stage.');
}

async function compare(context, target, wanted) {
  show(target, h('p', { role: 'status' }, 'Both policies read the session. Compiling them the first time can take a minute…'));
  try {
    const tested = await context.ask('compare', wanted);
    const [session] = tested.sessions;
    const left = tested.against ?? 'the default policy alone';
    const right = tested.policy;
    show(target, differences(session.difference),
      h('div', { class: 'columns even' }, side('left', left, session.before, session.after, session.millis_before), side('right', right, session.after, session.before, session.millis_after)),
      session.log.length > 0 && h('details', {}, h('summary', {}, 'What the policies logged'), h('pre', { class: 'text small' }, said(session.log.join('\n')))));
  } catch (error) {
    if (error.name !== 'AbortError') show(target, context.problem(error));
  }
}

function sides(listed, sessions, context) {
  const names = listed.policies.filter((it) => it.stages.length > 0).map((it) => it.name);
  if (names.length === 0 || sessions.length === 0) {
    return h('p', { class: 'quiet' }, names.length === 0 ? 'Install a second policy with `throughline policy add`: then both can be compared here.' : 'There is no session to compare them on yet.');
  }
  const option = (value, text = value) => h('option', { value }, text);
  const before = h('select', { id: 'against' }, option('', 'the default policy alone'), names.map((name) => option(name)));
  const after = h('select', { id: 'policy' }, names.map((name) => option(name)));
  const session = h('select', { id: 'session' }, sessions.map((it) => option(it.id, `${(it.title || it.id).slice(0, 80)} (${ago(it.last_at)})`)));
  const target = h('div', { id: 'sides', 'aria-live': 'polite' });
  const go = (event) => {
    event.preventDefault();
    compare(context, target, { policy: after.value, against: before.value, session: session.value, project: context.project });
  };
  return [h('form', { class: 'row', on: { submit: go } }, h('div', { class: 'field' }, h('label', { for: 'against' }, 'Left'), before), h('div', { class: 'field' }, h('label', { for: 'policy' }, 'Right'), after),
    h('div', { class: 'grow' }, h('label', { for: 'session' }, 'Session'), session), h('button', { id: 'compare' }, 'Compare')),
  h('p', { class: 'small quiet' }, 'This is ', h('code', {}, 'throughline policy test POLICY --against POLICY --session ID'), '. Nothing is stored. What only one side has is marked.'), target];
}

export async function render(context) {
  const [listed, recent] = await Promise.all([context.ask('policies', { project: context.project }), context.ask('sessions', { project: context.project, limit: SESSIONS })]);
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
    listed.broken.length > 0 && [h('h2', {}, 'Broken'), h('ul', {}, listed.broken.map((it) => h('li', { class: 'bad' }, said(Object.values(it).filter((value) => typeof value === 'string').join(': ')))))],
    h('h2', {}, 'Two policies on one session'), sides(listed, recent.entries, context));
}
