// Failures: which came back, and what healed them.

import { facts, h, said, show } from '../dom.js';
import { base, exact, path, plural, when } from '../format.js';
import { longList } from '../list.js';

const badge = (it) => h('span', { class: it.open ? 'badge old' : 'badge good' }, it.open ? 'open' : 'fixed');
const often = (it) => `${plural(it.count, 'time', 'times')} in ${plural(it.sessions, 'session', 'sessions')}`;

function line(it, context) {
  return [h('button', { type: 'button', class: 'head code' }, said(it.subject)),
    h('div', { class: 'meta' }, badge(it), h('span', {}, often(it)), when(it.last_at), !context.project && said(base(it.project))),
    h('div', { class: 'line' }, said(it.error)), h('div', { class: 'line quiet' }, it.fix ? [it.open ? 'Once fixed by: ' : 'Fixed by: ', said(it.fix)] : 'Nothing has fixed it yet.')];
}

/** Everything that is known of one failure. */
function whole(it, context) {
  return [h('h2', {}, said(it.subject, { class: 'code' })), h('div', { class: 'meta' }, badge(it), h('span', {}, often(it))),
    h('h3', {}, 'The error'), h('pre', { class: 'text small' }, said(it.error)),
    h('h3', {}, it.open && it.fix ? 'What once fixed it' : 'What fixed it'), it.fix ? h('pre', { class: 'text small' }, said(it.fix)) : h('p', { class: 'quiet' }, 'Nothing yet.'),
    facts([['first', exact(it.first_at)], ['last', exact(it.last_at)], ['fixed', exact(it.fixed_at)], ['project', path(it.project, context.state.home)],
      ['files', it.files.map((file) => h('div', {}, said(file, { class: 'code' })))]])];
}

export async function render(context) {
  const open = context.parameters.get('open') === 'true';
  const box = h('input', { type: 'checkbox', id: 'open', checked: open, on: { change: () => context.navigate('failures', { open: box.checked ? 'true' : '' }) } });
  const count = h('span', { class: 'quiet', id: 'count', role: 'status' }, 'Loading…');
  const detail = h('section', { class: 'detail', id: 'failure', 'aria-label': 'The chosen failure' });
  const list = longList({
    label: 'Failures, the most frequent first',
    empty: open ? 'No failure is open. Everything that failed has been fixed.' : 'No failure is known here. When a tool call fails, it appears here with what fixed it.',
    size: 'tall',
    load: (at, limit) => context.ask('failures', { project: context.project, open, at, limit }),
    row: (it) => line(it, context),
    pick: (_, it) => { if (it) show(detail, whole(it, context)); },
    total: (all) => {
      count.textContent = plural(all, 'failure', 'failures');
      detail.hidden = all === 0;
    },
  });
  show(context.main, h('h1', {}, 'Failures'), h('p', { class: 'row' }, count, h('span', {}, box, ' ', h('label', { for: 'open' }, 'only those that are open'))),
    h('div', { class: 'columns' }, list.element, detail));
  await list.start();
  list.select(0);
}
