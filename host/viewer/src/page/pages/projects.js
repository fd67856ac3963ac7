// The known projects.

import { h, said, show, table } from '../dom.js';
import { number, path, when } from '../format.js';

export async function render(context) {
  const rows = await context.projects;
  show(context.main, h('h1', {}, 'Projects'),
    rows.length === 0 ? h('p', { class: 'quiet' }, 'No project is known yet.')
      : table('Projects, latest session first', [['Project'], ['Sessions', true], ['Memories', true], ['Last session'], ['Folder']],
        rows.map((it) => [h('a', { href: context.address('search', { project: it.path ?? it.name }) }, said(it.name)), number(it.sessions), number(it.memories),
          when(it.last_session_at), it.path ? path(it.path, context.state.home) : 'none'])));
}
