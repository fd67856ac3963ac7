// The notes of a project, as a list and as a graph of relations and supersessions.

import { h, said, show, svg, table } from '../dom.js';
import { plural, when } from '../format.js';

/** The most notes that the graph draws. */
const MOST = 120;
const [WIDTH, HEIGHT] = [900, 520];

/** Places nodes by forces: links pull, nodes push. It begins on a circle, so the same graph is always drawn alike. */
function place(nodes, edges) {
  const at = nodes.map((_, index) => {
    const angle = (2 * Math.PI * index) / nodes.length;
    return { x: WIDTH / 2 + 300 * Math.cos(angle), y: HEIGHT / 2 + 180 * Math.sin(angle) };
  });
  for (let round = 0; round < 200; round += 1) {
    const force = at.map((point) => ({ x: (WIDTH / 2 - point.x) * 0.01, y: (HEIGHT / 2 - point.y) * 0.02 }));
    for (let a = 0; a < at.length; a += 1) {
      for (let b = a + 1; b < at.length; b += 1) {
        const [dx, dy] = [at[a].x - at[b].x, at[a].y - at[b].y];
        const push = 5200 / Math.max(100, dx * dx + dy * dy);
        force[a].x += dx * push * 0.05;
        force[a].y += dy * push * 0.05;
        force[b].x -= dx * push * 0.05;
        force[b].y -= dy * push * 0.05;
      }
    }
    for (const { from, to } of edges) {
      const [dx, dy] = [at[to].x - at[from].x, at[to].y - at[from].y];
      const pull = (Math.hypot(dx, dy) - 150) * 0.0006;
      force[from].x += dx * pull;
      force[from].y += dy * pull;
      force[to].x -= dx * pull;
      force[to].y -= dy * pull;
    }
    for (const [index, point] of at.entries()) {
      point.x = Math.max(100, Math.min(WIDTH - 100, point.x + force[index].x));
      point.y = Math.max(24, Math.min(HEIGHT - 34, point.y + force[index].y));
    }
  }
  return at;
}

function graph(page, context) {
  const titles = new Map([...page.graph.nodes, ...page.entries].map((it) => [it.id, it]));
  const links = [...page.graph.edges, ...page.graph.supersessions.map((it) => ({ ...it, newer: true }))].filter((it) => titles.has(it.from) && titles.has(it.to));
  if (links.length === 0) return h('p', { class: 'quiet' }, 'No note of this project has relations.');
  const ids = [...new Set(links.flatMap((it) => [it.from, it.to]))].slice(0, MOST);
  const index = new Map(ids.map((id, at) => [id, at]));
  const edges = links.filter((it) => index.has(it.from) && index.has(it.to)).map((it) => ({ ...it, from: index.get(it.from), to: index.get(it.to) }));
  const at = place(ids, edges);
  const short = (text) => ([...text].length > 28 ? `${[...text].slice(0, 27).join('')}…` : text);
  // Two notes may have several relations: one label names all of them.
  const between = (it) => [it.from, it.to].sort().join(' ');
  const labels = new Map();
  for (const it of edges) labels.set(between(it), [...(labels.get(between(it)) ?? []), it.relation]);
  const labelOf = (it) => {
    const all = labels.get(between(it));
    labels.delete(between(it));
    return all?.join(', ') ?? '';
  };
  const lines = edges.map((it) => {
    const [a, b] = [at[it.from], at[it.to]];
    return [svg('path', { class: it.newer ? 'edge newer' : 'edge', d: `M${a.x.toFixed(1)} ${a.y.toFixed(1)}L${b.x.toFixed(1)} ${b.y.toFixed(1)}` }),
      svg('text', { class: 'edge-label', x: ((a.x + b.x) / 2).toFixed(1), y: ((a.y + b.y) / 2 - 3).toFixed(1), 'text-anchor': 'middle' }, labelOf(it))];
  });
  // A short label is no part of the link, whose name is the whole title; the clear rectangle over it makes it lead there all the same.
  const nodes = ids.map((id, n) => [svg('text', { x: at[n].x.toFixed(1), y: (at[n].y + 24).toFixed(1), 'text-anchor': 'middle', 'aria-hidden': 'true' }, short(titles.get(id).title)),
    svg('a', { href: context.address('memory', {}, id), 'aria-label': titles.get(id).title },
      svg('circle', { class: 'node', cx: at[n].x.toFixed(1), cy: at[n].y.toFixed(1), r: 9 }),
      svg('rect', { class: 'hit', x: (at[n].x - 90).toFixed(1), y: (at[n].y + 10).toFixed(1), width: 180, height: 20 }, svg('title', {}, titles.get(id).title)))]);
  const name = (id) => h('a', { href: context.address('memory', {}, id) }, said(titles.get(id).title));
  return [svg('svg', { class: 'graph', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'group', 'aria-label': 'Relations between notes; the table below says the same' }, lines, nodes),
    h('details', {}, h('summary', {}, 'The relations as a table'), table('Relations', [['Note'], ['Relation'], ['Note']], links.map((it) => [name(it.from), it.relation, name(it.to)]))),
    page.graph.dangling.length > 0 && h('p', {}, `${plural(page.graph.dangling.length, 'link leads', 'links lead')} to notes that do not exist: `, said(page.graph.dangling.map((it) => it.target).join(', ')))];
}

export async function render(context) {
  if (!context.project) {
    const entries = (await context.projects).map((it) => h('li', {}, h('a', { href: context.address('notes', { project: it.path ?? it.name }) }, said(it.name))));
    show(context.main, h('h1', {}, 'Notes'), h('p', {}, 'Notes belong to a project. Choose one:'), h('ul', {}, entries));
    return;
  }
  const first = await context.ask('notes', { project: context.project, limit: 100 });
  const list = h('ul', { class: 'results', 'aria-label': 'Notes, newest first' });
  const more = h('button', { type: 'button' }, 'More notes');
  let cursor;
  const add = (page) => {
    list.append(...page.entries.map((it) => h('li', { 'data-item': true }, h('h2', {}, h('a', { href: context.address('memory', {}, it.id) }, said(it.title))),
      h('div', { class: 'meta' }, h('span', { class: 'badge' }, it.type), when(it.at), said(it.name, { class: 'code' }), it.tags.length > 0 && said(it.tags.join(', '))),
      h('p', {}, said(it.line)))));
    cursor = page.next;
    more.hidden = !cursor;
  };
  more.addEventListener('click', () => context.ask('notes', { project: context.project, limit: 100, cursor }).then(add));
  show(context.main, h('h1', {}, 'Notes'), h('p', { class: 'quiet' }, plural(first.total, 'note', 'notes')), graph(first, context), list, more);
  add(first);
}
