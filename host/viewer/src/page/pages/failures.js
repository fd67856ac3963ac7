// Failures: which came back, and what healed them.

import { h, said, show } from '../dom.js';
import { base, plural, when } from '../format.js';

function failure(it, context) {
  return h('li', { 'data-item': true },
    h('h2', {}, said(it.subject, { class: 'code' })),
    h('div', { class: 'meta' }, h('span', { class: it.open ? 'badge old' : 'badge' }, it.open ? 'open' : 'fixed'),
      h('span', {}, `${plural(it.count, 'time', 'times')} in ${plural(it.sessions, 'session', 'sessions')}`), when(it.last_at), !context.project && said(base(it.project))),
    h('p', {}, said(it.error)),
    it.fix && h('p', {}, it.open ? 'Once fixed by: ' : 'Fixed by: ', said(it.fix)),
    h('details', {}, h('summary', {}, 'More'), h('p', { class: 'small' }, 'first ', when(it.first_at), it.fixed_at && [', fixed ', when(it.fixed_at)]),
      it.files.length > 0 && h('ul', {}, it.files.map((file) => h('li', {}, said(file, { class: 'code' }))))));
}

export async function render(context) {
  const open = context.parameters.get('open') ?? '';
  const box = h('input', { type: 'checkbox', id: 'open', checked: open === 'true', on: { change: () => context.navigate('failures', { open: box.checked ? 'true' : '' }) } });
  const list = h('ul', { class: 'results', 'aria-label': 'Failures' });
  const more = h('button', { type: 'button', hidden: true }, 'More failures');
  const nothing = h('p', { class: 'quiet', hidden: true }, 'No failure is known here.');
  show(context.main, h('h1', {}, 'Failures'), h('p', {}, box, ' ', h('label', { for: 'open' }, 'only those that are open')), nothing, list, more);
  let cursor;
  async function load() {
    const page = await context.ask('failures', { project: context.project, open: open === 'true', cursor, limit: 50 });
    list.append(...page.entries.map((it) => failure(it, context)));
    cursor = page.next;
    more.hidden = !cursor;
    nothing.hidden = list.children.length > 0;
  }
  more.addEventListener('click', () => load().catch((error) => context.main.append(context.problem(error))));
  await load();
}
