// Memories: a search with its explained scores, or all of them, newest first.

import { h, parts, said, show } from '../dom.js';
import { base, plural, sayer, when } from '../format.js';
import { longList } from '../list.js';

function score(why, words) {
  const share = why.vector_share ?? 0;
  const rows = [
    ['relevance', why.relevance, 'words and meaning together'],
    ['words', why.text, `${Math.round(100 * (1 - share))} % of it; BM25 ${why.bm25.toFixed(2)}, its session ${why.session.toFixed(2)}`],
    ['meaning', why.vector, why.cosine === null || why.cosine === undefined ? 'unknown' : `${Math.round(100 * share)} % of it; cosine ${why.cosine.toFixed(3)}`],
    ['importance and age', why.prior, ''],
    ['repeat', why.repeat, why.repeat < 1 ? 'another memory of its session ranks higher' : ''],
  ];
  return h('details', {}, h('summary', {}, 'Why this score'),
    h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Score' },
      h('table', {}, h('tbody', {}, rows.map(([name, value, note]) => h('tr', {}, h('th', { scope: 'row' }, name),
        h('td', { class: 'number' }, value === null || value === undefined ? '–' : value.toFixed(3)), h('td', { class: 'quiet' }, note)))))),
    h('p', { class: 'small quiet' }, 'Words that were found: ', words.length ? said(words.join(' ')) : 'none'));
}

function meta(entry, context) {
  return h('div', { class: 'meta' },
    h('span', { class: 'badge' }, entry.type.replaceAll('_', ' ')),
    (entry.pinned || entry.pinned_at) && h('span', { class: 'badge pinned' }, 'pinned'), (entry.wrong || entry.wrong_at) && h('span', { class: 'badge old' }, 'wrong'),
    entry.superseded_by && h('span', { class: 'badge old' }, 'superseded'),
    when(entry.at ?? entry.created_at),
    !context.project && said(base(entry.project)),
    entry.said_by && h('span', {}, sayer(entry.said_by)),
    entry.score ? h('span', {}, `score ${entry.score.toFixed(3)}`) : null);
}

function result(entry, context) {
  return h('li', { 'data-item': true },
    h('h2', {}, h('a', { href: context.address('memory', {}, entry.id) }, parts(entry.title_parts))),
    meta(entry, context),
    h('p', {}, parts(entry.excerpt)),
    score(entry.why, entry.words));
}

async function results(context, target, query, type) {
  const list = h('ol', { class: 'results', 'aria-label': 'Results' });
  const more = h('button', { type: 'button', hidden: true }, 'More results');
  const count = h('p', { class: 'quiet', role: 'status' }, 'Searching…');
  show(target, count, list, more);
  let cursor;
  async function load() {
    const page = await context.ask('search', { q: query, types: type, project: context.project, limit: 20, cursor });
    list.append(...page.entries.map((entry) => result(entry, context)));
    cursor = page.next;
    more.hidden = !cursor;
    count.textContent = list.children.length === 0 ? 'Nothing was found.' : `${cursor ? 'The first ' : ''}${plural(list.children.length, 'result', 'results')}`;
  }
  more.addEventListener('click', () => load().catch((error) => show(target, context.problem(error))));
  await load();
}

async function everything(context, target, type) {
  const count = h('p', { class: 'quiet', id: 'count', role: 'status' }, 'Loading…');
  const wanted = { project: context.project, types: type };
  // The first page is asked for on its own, since it is there at once. The others are positions after it.
  let first = null;
  const list = longList({
    label: 'Memories, newest first',
    empty: type ? 'There is no memory of this type.' : 'Nothing is remembered here yet. After a session with your agent, what it learned stands here.',
    load: async (at, limit) => {
      first ??= await context.ask('memories', { ...wanted, limit });
      const before = first.entries.length;
      if (at < before || !first.next) return { entries: first.entries, total: first.next ? null : before };
      const more = await context.ask('memories', { ...wanted, cursor: first.next, at: at - before, limit });
      return { entries: more.entries, total: before + more.total };
    },
    row: (entry) => [h('a', { class: 'head', href: context.address('memory', {}, entry.id) }, said(entry.title || entry.line)), meta(entry, context)],
    open: (entry) => context.address('memory', {}, entry.id),
    total: (all) => { count.textContent = plural(all, 'memory', 'memories'); },
  });
  show(target, count, list.element);
  await list.start();
}

export async function render(context) {
  const { main, parameters } = context;
  const [query, type] = ['q', 'type'].map((name) => parameters.get(name) ?? '');
  const field = h('input', { id: 'query', type: 'search', value: query, autocomplete: 'off', spellcheck: 'false', 'aria-keyshortcuts': '/' });
  const types = h('select', { id: 'type' }, h('option', { value: '' }, 'All types'), type && h('option', { value: type, selected: true }, type.replaceAll('_', ' ')));
  const target = h('div', {});
  const go = () => context.navigate('search', { q: field.value.trim(), type: types.value });
  const form = h('form', { class: 'row', role: 'search', on: { submit: (event) => { event.preventDefault(); go(); } } },
    h('div', { class: 'grow' }, h('label', { for: 'query' }, 'Search: words, "phrases", -without, file:…, after:7d'), field),
    h('div', { class: 'field' }, h('label', { for: 'type' }, 'Type'), types),
    h('button', {}, 'Search'));
  types.addEventListener('change', go);
  show(main, h('h1', {}, 'Memories'), form, target);
  if (parameters.get('focus')) field.focus();
  const counts = context.ask('types', { project: context.project });
  counts.then((all) => {
    for (const { type: name } of all) if (name !== type) types.append(h('option', { value: name }, name.replaceAll('_', ' ')));
  }).catch(() => {});
  if (query) context.title(`${query} – search`);
  await (query ? results(context, target, query, type) : everything(context, target, type));
}
