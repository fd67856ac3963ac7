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

/** Bars over days. Rows are `{at, value}`, in order; the table beside it says the same in words. */
export function overTime(label, rows, dayOf) {
  const [width, height, foot] = [720, 160, 20];
  const most = Math.max(1, ...rows.map((row) => row.value));
  const step = width / Math.max(rows.length, 12);
  const bar = (row, index) => svg('rect', {
    class: 'bar', x: (index * step + 1).toFixed(1), width: Math.max(1, step - 2).toFixed(1),
    y: (height - foot - (row.value / most) * (height - foot - 16)).toFixed(1), height: ((row.value / most) * (height - foot - 16)).toFixed(1),
  }, svg('title', {}, `${dayOf(row.at)}: ${row.value}`));
  const texts = rows.length === 0 ? [] : [svg('text', { x: 2, y: height - 6 }, dayOf(rows[0].at)), svg('text', { x: 2, y: 12 }, `most: ${most}`)];
  if (rows.length > 8) texts.push(svg('text', { x: width - 2, y: height - 6, 'text-anchor': 'end' }, dayOf(rows[rows.length - 1].at)));
  return svg('svg', { class: 'plot', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label }, rows.map(bar), texts);
}
