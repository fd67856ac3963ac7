// A long list of which only the visible rows are in the page. Its pages are loaded as it is scrolled.

import { h } from './dom.js';

const AROUND = 8;

/**
 * Makes a list. `load(cursor)` returns `{entries, next}`, `row(entry)` the content of a row, `open(entry)` the address that Enter opens,
 * and `total`, if it is given, promises the number of all entries. All rows are equally high.
 */
export function longList({ label, load, row, open, empty, total: promised }) {
  const inner = h('ul', { 'aria-label': label });
  const outer = h('div', { class: 'window', tabindex: '0', role: 'region', 'aria-label': label }, inner);
  const nothing = h('p', { class: 'quiet', hidden: true }, empty);
  const entries = [];
  const rows = new Map();
  let cursor;
  let isOver = false;
  let loading = null;
  let total = null;
  let picked = -1;
  let height = 68;

  function measure() {
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;
    height = 4.25 * rem;
  }

  async function more() {
    if (isOver || loading) return loading;
    loading = (async () => {
      const page = await load(cursor);
      entries.push(...page.entries);
      cursor = page.next;
      isOver = !page.next;
      inner.style.height = `${entries.length * height}px`;
      nothing.hidden = entries.length > 0;
      outer.hidden = entries.length === 0;
    })();
    try {
      await loading;
    } finally {
      loading = null;
    }
    paint();
    return undefined;
  }

  function paint() {
    const first = Math.max(0, Math.floor(outer.scrollTop / height) - AROUND);
    const last = Math.min(entries.length, Math.ceil((outer.scrollTop + outer.clientHeight) / height) + AROUND);
    for (const [at, element] of rows) {
      if (at < first || at >= last) {
        element.remove();
        rows.delete(at);
      }
    }
    for (let at = first; at < last; at += 1) {
      if (rows.has(at)) continue;
      const element = h('li', { 'aria-setsize': isOver ? entries.length : total ?? -1, 'aria-posinset': at + 1 }, row(entries[at]));
      element.style.transform = `translateY(${at * height}px)`;
      element.classList.toggle('picked', at === picked);
      rows.set(at, element);
      const after = [...rows.keys()].filter((other) => other > at).sort((a, b) => a - b)[0];
      inner.insertBefore(element, after === undefined ? null : rows.get(after));
    }
    if (last >= entries.length - AROUND && !isOver) more().catch(() => {});
  }

  let isQueued = false;
  outer.addEventListener('scroll', () => {
    if (isQueued) return;
    isQueued = true;
    requestAnimationFrame(() => {
      isQueued = false;
      paint();
    });
  }, { passive: true });

  function pick(at) {
    if (entries.length === 0) return;
    picked = Math.max(0, Math.min(entries.length - 1, at));
    const top = picked * height;
    if (top < outer.scrollTop) outer.scrollTop = top;
    if (top + height > outer.scrollTop + outer.clientHeight) outer.scrollTop = top + height - outer.clientHeight;
    paint();
    for (const [index, element] of rows) element.classList.toggle('picked', index === picked);
    rows.get(picked)?.querySelector('a')?.focus({ preventScroll: true });
  }

  promised?.then((count) => {
    total = count;
    for (const line of rows.values()) line.setAttribute('aria-setsize', String(total));
  }).catch(() => {});
  const element = h('div', {}, outer, nothing);
  element.longList = { move: (by) => pick(picked < 0 ? 0 : picked + by), enter: () => { if (picked >= 0) location.hash = open(entries[picked]); } };
  return {
    element,
    start: async () => {
      measure();
      await more();
    },
  };
}
