// Plots as SVG: bars in a table, and bars over days.

import { h, said, svg } from './dom.js';

/** A table of names, bars and values. Rows are `{name, value, text}`. */
export function bars(caption, rows) {
  const most = Math.max(1, ...rows.map((row) => row.value));
  const bar = (row) => svg('svg', { viewBox: '0 0 100 10', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    svg('rect', { class: 'bar', x: 0, y: 1, height: 8, width: Math.max(0.5, (100 * row.value) / most).toFixed(2) }));
  return h('table', { class: 'bars' }, h('caption', {}, caption),
    h('tbody', {}, rows.map((row) => h('tr', {}, h('th', { scope: 'row' }, said(row.name)), h('td', {}, bar(row)), h('td', { class: 'number' }, row.text)))));
}

/** Bars over days, each at its place in time. Rows are `{at, value}`, in order; the table beside it says the same in words. */
export function overTime(label, rows, dayOf, textOf = String) {
  const [width, height, head, foot, side] = [720, 170, 26, 24, 10];
  const DAY = 86_400_000;
  const most = Math.max(1, ...rows.map((row) => row.value));
  // At least a month is shown, so that a few days do not look like all of it.
  const last = rows.at(-1)?.at ?? 0;
  const first = Math.min(rows[0]?.at ?? 0, last - 29 * DAY);
  const days = Math.round((last - first) / DAY) + 1;
  const step = (width - 2 * side) / days;
  const tall = (value) => (value / most) * (height - head - foot);
  const bar = (row) => svg('rect', {
    class: 'bar', x: (side + ((row.at - first) / DAY) * step + step * 0.1).toFixed(1), width: Math.max(1, step * 0.8).toFixed(1),
    y: (height - foot - tall(row.value)).toFixed(1), height: tall(row.value).toFixed(1),
  }, svg('title', {}, `${dayOf(row.at)}: ${textOf(row.value)}`));
  const line = svg('line', { class: 'axis', x1: side, x2: width - side, y1: height - foot, y2: height - foot });
  const texts = rows.length === 0 ? [] : [svg('text', { x: side, y: height - 8 }, dayOf(first)), svg('text', { x: side, y: 18 }, `most on a day: ${textOf(Math.max(0, ...rows.map((row) => row.value)))}`),
    svg('text', { x: width - side, y: height - 8, 'text-anchor': 'end' }, dayOf(last))];
  return svg('svg', { class: 'plot', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label }, line, rows.map(bar), texts);
}
