// Begins: exchanges the token, reads the address, and shows the page that it names.

import { h, said, show } from './dom.js';
import { base } from './format.js';
import { listen } from './keys.js';
import { get, post } from './net.js';

// The pages of the navigation, in its order; `memory` and `session` are reached from them.
const PAGES = [['search', 'Memories'], ['today', 'Today'], ['sessions', 'Sessions'], ['projects', 'Projects'], ['failures', 'Failures'], ['notes', 'Notes'], ['policies', 'Policies'], ['spending', 'Spending'], ['redaction', 'Redaction'], ['health', 'Health']];
const PARTS = { memory: 'search', session: 'sessions' };

const main = document.getElementById('main');
const projects = document.getElementById('project');
let state = null;
let leaving = new AbortController();

/** The address of a page. The chosen project goes along. */
export function address(page, parameters = {}, id = '') {
  const query = new URLSearchParams();
  const all = { project: projects.value, ...parameters };
  for (const [name, value] of Object.entries(all)) if (value) query.set(name, value);
  const text = query.toString();
  return `#/${page}${id ? `/${encodeURIComponent(id)}` : ''}${text ? `?${text}` : ''}`;
}

function navigate(page, parameters) {
  location.hash = address(page, parameters);
}

function parse() {
  const [path, query] = location.hash.replace(/^#\/?/u, '').split('?');
  const [page, id] = path.split('/');
  return { page: page || 'search', id: id ? decodeURIComponent(id) : '', parameters: new URLSearchParams(query ?? '') };
}

/** Tells something in passing, also to those who do not see it. */
function tell(text) {
  const line = h('p', {}, text);
  document.getElementById('status').append(line);
  setTimeout(() => line.remove(), 6000);
}

function problem(error) {
  return h('div', { class: 'problem', role: 'alert' }, h('p', {}, said(error.message)), error.hint && h('p', {}, 'What to do: ', said(error.hint)));
}

function navigation(page) {
  const current = PARTS[page] ?? page;
  const link = ([name, title]) => h('li', {}, h('a', { href: address(name), 'aria-current': name === current && 'page' }, title));
  show(document.getElementById('nav'), h('ul', {}, PAGES.map(link)));
}

/** Says, also to assistive technology, that the page of this address is complete. */
function finish(shown) {
  if (location.hash !== shown) return;
  main.removeAttribute('aria-busy');
  main.dataset.shows = shown;
}

async function render() {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const shown = location.hash;
  main.setAttribute('aria-busy', 'true');
  delete main.dataset.shows;
  const { page, id, parameters } = parse();
  const project = parameters.get('project') ?? '';
  if (projects.value !== project) pick(project);
  navigation(page);
  if (!PARTS[page] && !PAGES.some(([name]) => name === page)) {
    show(main, h('h1', {}, 'There is no such page'), h('p', {}, h('a', { href: address('search') }, 'Memories')));
    finish(shown);
    return;
  }
  const name = PAGES.find(([own]) => own === (PARTS[page] ?? page))[1];
  document.title = `${name} – Throughline`;
  try {
    const module = await import(`/pages/${page}.js`);
    await module.render({
      main, id, parameters, project, state, projects: known, signal, address, navigate, tell, problem,
      ask: (path, more) => get(path, more, signal),
      change: (body) => post('do', body),
      title: (text) => { document.title = `${text} – Throughline`; },
    });
  } catch (error) {
    if (error.name === 'AbortError' || signal.aborted) return;
    show(main, h('h1', {}, name), problem(error));
  }
  finish(shown);
}

/** All projects, the one with the latest session first. Counting a million memories takes longer than the first page. */
const everyProject = async () => {
  const all = [];
  let cursor;
  do {
    const page = await get('projects', { limit: 200, cursor });
    all.push(...page.entries);
    cursor = page.next;
  } while (cursor && all.length < 2000);
  return all;
};
let known = Promise.resolve([]);

/** Chooses a project, also one that is not in the list yet. */
function pick(value) {
  if (value && ![...projects.options].some((option) => option.value === value)) projects.append(h('option', { value, title: value }, base(value)));
  projects.value = value;
}

function choose() {
  known = everyProject();
  known.then((all) => {
    const chosen = projects.value;
    const options = all.map((it) => {
      const value = it.path ?? it.name;
      const isTwin = all.some((other) => other !== it && other.name === it.name);
      return h('option', { value, title: value }, isTwin ? `${it.name} (${value})` : it.name);
    });
    projects.replaceChildren(projects.options[0], ...options);
    pick(chosen);
  }).catch(() => {});
  projects.addEventListener('change', () => {
    const { page, parameters } = parse();
    const kept = Object.fromEntries(['q', 'type', 'open'].map((name) => [name, parameters.get(name)]));
    location.hash = address(PARTS[page] ?? page, { ...kept, project: projects.value });
  });
}

async function begin() {
  document.getElementById('skip').addEventListener('click', (event) => {
    event.preventDefault();
    main.focus();
  });
  document.getElementById('scope').addEventListener('submit', (event) => event.preventDefault());
  // A token is 43 characters; an address of a page begins with a slash.
  const token = /^#([\w-]{43})$/u.exec(location.hash)?.[1];
  if (token) {
    history.replaceState(null, '', '/#/search');
    await post('session', { token });
  }
  state = await get('state');
  choose();
  const mode = document.getElementById('mode');
  mode.textContent = state.write ? 'changes are allowed' : 'read-only';
  mode.classList.toggle('write', state.write);
  if (token && state.project) history.replaceState(null, '', `/${address('search', { project: state.project })}`);
  window.addEventListener('hashchange', () => {
    render().then(() => main.focus({ preventScroll: true }));
    window.scrollTo(0, 0);
  });
  listen(navigate);
  await render();
}

begin().catch((error) => show(main, h('h1', {}, 'Throughline'), problem(error)));
