// A long list of which only the visible rows are in the page. It can be entered anywhere: what is visible is loaded, page by page.

import { h } from './dom.js';

/** How many rows above and below are ready. */
const AROUND = 8;
/** How many entries are asked for at a time, and how many such pages stay in memory. */
const PAGE = 100;
const KEPT = 30;
/** How many requests may be on their way. */
const AT_ONCE = 2;
/** Browsers do not make an element higher than some 16 million pixels. A longer list moves faster than its scrollbar. */
const TALLEST = 8_000_000;
/** The heights of rows, rem: as in the style sheet. */
const ROWS = { slim: 2.4, normal: 4.25, tall: 7.2 };

/**
 * Makes a list. `load(at, limit)` returns `{entries, total}`: the entries from that position on, null where one is gone, and the number
 * of all; `total` is null if it is not known yet. `row(entry, at)` returns the content of a row, `open(entry)` the address that Enter
 * opens, and `pick(at)` is told which row is picked. All rows are equally high.
 */
export function longList({ label, load, row, open, pick: onPick, total: onTotal, empty, size = 'normal' }) {
  const inner = h('ul', { 'aria-label': label });
  const outer = h('div', { class: `window ${size}`, tabindex: '0', role: 'region', 'aria-label': label }, inner);
  const nothing = h('p', { class: 'quiet empty', hidden: true }, empty);
  const element = h('div', { class: 'long' }, outer, nothing);
  const pages = new Map();
  const loading = new Set();
  const rows = new Map();
  let height = 68;
  let total = 0;
  let isExact = false;
  let picked = -1;
  let toFocus = -1;
  // Where the visible part begins, in pixels of the whole list, and the scrollbar's position that belongs to it.
  let top = 0;
  let bar = 0;

  const whole = () => total * height;
  const shown = () => Math.min(whole(), TALLEST);
  const room = () => Math.max(0, whole() - outer.clientHeight);
  const barRoom = () => Math.max(1, shown() - outer.clientHeight);
  const entryAt = (at) => pages.get(Math.floor(at / PAGE))?.[at % PAGE];

  /** Moves the scrollbar to where it belongs. */
  function settle() {
    const wanted = whole() > TALLEST ? (top / Math.max(1, room())) * barRoom() : top;
    if (Math.abs(outer.scrollTop - wanted) >= 1) outer.scrollTop = wanted;
    bar = outer.scrollTop;
    paint();
  }

  let settling;
  function scrolled() {
    const now = outer.scrollTop;
    const moved = now - bar;
    if (moved === 0) return;
    bar = now;
    if (whole() <= TALLEST) top = now;
    else if (now <= 0) top = 0;
    else if (now >= barRoom() - 1) top = room();
    // A wheel or a key moves by rows, and the dragged scrollbar by its share of the list.
    else if (Math.abs(moved) <= 3 * outer.clientHeight) top = Math.max(0, Math.min(room(), top + moved));
    else top = (now / barRoom()) * room();
    paint();
    if (whole() > TALLEST) {
      clearTimeout(settling);
      settling = setTimeout(settle, 150);
    }
  }

  function fits() {
    inner.style.height = `${shown()}px`;
    nothing.hidden = total > 0;
    outer.hidden = total === 0;
    if (isExact) onTotal?.(total);
  }

  async function ask(page) {
    loading.add(page);
    try {
      const found = await load(page * PAGE, PAGE);
      pages.set(page, found.entries);
      const end = page * PAGE + found.entries.length;
      if (found.total !== null && found.total !== undefined) {
        total = found.total;
        isExact = true;
      } else if (!isExact) total = Math.max(total, found.entries.length === PAGE ? end + 1 : end);
      if (!isExact && found.entries.length < PAGE) isExact = true;
      fits();
      for (const [at, line] of rows) {
        if (Math.floor(at / PAGE) === page || at >= total) {
          line.remove();
          rows.delete(at);
        } else line.setAttribute('aria-setsize', String(isExact ? total : -1));
      }
      forget(page);
      if (Math.floor(picked / PAGE) === page) onPick?.(picked, entryAt(picked));
    } finally {
      loading.delete(page);
    }
    paint();
  }

  /** Drops the pages that are farthest away. */
  function forget(from) {
    const far = [...pages.keys()].sort((a, b) => Math.abs(b - from) - Math.abs(a - from));
    for (const page of far.slice(0, Math.max(0, far.length - KEPT))) pages.delete(page);
  }

  let isAsking = false;
  function askSoon() {
    if (isAsking) return;
    isAsking = true;
    // Not at every step of a scrollbar that is dragged over a million rows.
    setTimeout(() => {
      isAsking = false;
      const [first, last] = visible();
      for (let page = Math.floor(first / PAGE); page <= Math.floor(Math.max(first, last - 1) / PAGE) && loading.size < AT_ONCE; page += 1) {
        if (pages.has(page) || loading.has(page)) continue;
        ask(page).catch((error) => {
          if (error.name !== 'AbortError') setTimeout(paint, 2000);
        });
      }
    }, 40);
  }

  function visible() {
    const first = Math.max(0, Math.floor(top / height) - AROUND);
    return [first, Math.min(total, Math.ceil((top + outer.clientHeight) / height) + AROUND)];
  }

  function make(at, entry) {
    const isReady = entry !== undefined;
    const content = !isReady ? h('span', { class: 'waiting' }, '…') : entry === null ? h('span', { class: 'quiet' }, 'This is no longer here.') : row(entry, at);
    const line = h('li', { 'aria-setsize': isExact ? total : -1, 'aria-posinset': at + 1, class: at === picked && 'picked', on: onPick && { click: () => select(at, false) } }, content);
    line.isReady = isReady;
    return line;
  }

  function paint() {
    const [first, last] = visible();
    for (const [at, line] of rows) {
      if (at < first || at >= last) {
        line.remove();
        rows.delete(at);
      }
    }
    let after = null;
    let isMissing = false;
    for (let at = last - 1; at >= first; at -= 1) {
      const entry = entryAt(at);
      let line = rows.get(at);
      if (line && !line.isReady && entry !== undefined) {
        line.remove();
        line = null;
      }
      if (!line) {
        line = make(at, entry);
        rows.set(at, line);
        inner.insertBefore(line, after);
      }
      isMissing ||= !line.isReady;
      line.style.transform = `translateY(${Math.round(bar + at * height - top)}px)`;
      line.classList.toggle('picked', at === picked);
      after = line;
    }
    if (isMissing) askSoon();
    if (toFocus >= 0 && rows.get(toFocus)?.isReady) {
      rows.get(toFocus).querySelector('a, button')?.focus({ preventScroll: true });
      toFocus = -1;
    }
  }

  let isQueued = false;
  outer.addEventListener('scroll', () => {
    if (isQueued) return;
    isQueued = true;
    requestAnimationFrame(() => {
      isQueued = false;
      scrolled();
    });
  }, { passive: true });

  /** Picks a row and brings it into view. */
  function select(at, isFocused) {
    if (total === 0) return;
    picked = Math.max(0, Math.min(total - 1, at));
    const begin = picked * height;
    if (begin < top) top = begin;
    else if (begin + height > top + outer.clientHeight) top = Math.min(room(), begin + height - outer.clientHeight);
    if (isFocused) toFocus = picked;
    settle();
    onPick?.(picked, entryAt(picked));
  }

  element.longList = {
    move: (by) => select(picked < 0 ? 0 : picked + by, true),
    enter: () => { if (open && entryAt(picked)) location.hash = open(entryAt(picked)); },
  };
  return {
    element,
    select: (at) => select(at, false),
    entryAt,
    start: async () => {
      height = ROWS[size] * (parseFloat(getComputedStyle(document.documentElement).fontSize) || 16);
      await ask(0);
      // The number of all is known with the second page.
      if (!isExact) ask(1).catch(() => {});
    },
  };
}
