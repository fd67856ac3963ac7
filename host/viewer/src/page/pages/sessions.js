// The sessions, latest first.

import { h, said, show } from '../dom.js';
import { base, plural, when } from '../format.js';
import { longList } from '../list.js';

export async function render(context) {
  const count = h('p', { class: 'quiet', id: 'count', role: 'status' }, 'Loading…');
  const list = longList({
    label: 'Sessions, latest first',
    empty: 'No session is known yet. Start one with your agent: it appears here after its first prompt.',
    load: (at, limit) => context.ask('sessions', { project: context.project, at, limit }),
    row: (entry) => [h('a', { class: 'head', href: context.address('session', {}, entry.id) }, said(entry.title || entry.id)),
      h('div', { class: 'meta' }, when(entry.last_at), !context.project && said(base(entry.project)), h('span', {}, plural(entry.turns, 'turn', 'turns')),
        !entry.end_reason && h('span', { class: 'badge' }, 'running'), entry.outcome && said(entry.outcome))],
    open: (entry) => context.address('session', {}, entry.id),
    total: (all) => { count.textContent = plural(all, 'session', 'sessions'); },
  });
  show(context.main, h('h1', {}, 'Sessions'), count, list.element);
  await list.start();
}
