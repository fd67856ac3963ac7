// Today: what happens in all sessions, as it happens.

import { h, said, show } from '../dom.js';
import { base, clock, happened } from '../format.js';
import { follow } from '../net.js';

/** How many lines stay in the page. */
const MOST = 500;

const key = (it) => [it.session_id, it.memory ? 0 : it.at, it.memory ?? `${it.type}\n${it.tool}\n${it.summary}`].join('\n');

export async function render(context) {
  const list = h('ol', { class: 'feed', id: 'feed', 'aria-label': 'What happened, latest first' });
  const dot = h('span', { class: 'dot', 'aria-hidden': 'true' });
  const word = h('span', {}, 'connecting…');
  const nothing = h('p', { class: 'quiet' }, 'Nothing has happened yet today. Start a session with your agent: it appears here.');
  const known = new Set();
  let last = null;

  function line(it, isFresh) {
    const what = it.memory ? h('a', { href: context.address('memory', {}, it.memory) }, said(it.summary)) : said(it.summary);
    return h('li', { class: [it.failed && 'failed', it.memory && 'told', isFresh && 'fresh'].filter(Boolean).join(' '), 'data-item': true },
      clock(it.at), h('span', {}, it.memory ? `told at ${it.moment}` : happened(it)),
      h('div', {}, it.failed && h('strong', { class: 'bad' }, 'failed '), what,
        h('div', { class: 'meta' }, it.project && said(base(it.project)), h('a', { href: context.address('session', {}, it.session_id) }, `session ${it.session_id.slice(0, 8)}`))));
  }

  function add(it, isFresh) {
    if (context.project && it.project && it.project !== context.project) return;
    if (known.has(key(it))) return;
    known.add(key(it));
    nothing.hidden = true;
    list.prepend(line(it, isFresh));
    if (list.children.length > MOST) list.lastElementChild.remove();
  }

  show(context.main, h('h1', {}, 'Today'), h('p', { class: 'live', role: 'status' }, dot, word), nothing, list);
  const early = [];
  let isReady = false;
  async function load() {
    const midnight = new Date();
    midnight.setHours(0, 0, 0, 0);
    const { entries } = await context.ask('today', { since: last ?? midnight.getTime() });
    for (const it of entries) add(it, false);
    for (const it of early.splice(0)) add(it, true);
    isReady = true;
  }
  follow((it) => {
    if (it.type === 'changed') return;
    last = Math.max(last ?? 0, it.at);
    if (isReady) add(it, true);
    else early.push(it);
  }, (isOn) => {
    dot.classList.toggle('on', isOn);
    word.textContent = isOn ? 'live' : 'not connected; trying again';
    // What happened while nobody listened is asked for.
    if (isOn) load().catch(() => {});
  }, context.signal);
}
