// Redaction: how often each rule replaced something, over time. The values are nowhere: they never reached the disk.

import { bars, overTime } from '../chart.js';
import { h, show } from '../dom.js';
import { day, number, plural } from '../format.js';

function sums(counts, of) {
  const all = new Map();
  for (const it of counts) all.set(of(it), (all.get(of(it)) ?? 0) + it.count);
  return [...all];
}

/** The plot of the days, and a choice between all rules and one. */
function history(counts, rules) {
  const target = h('div', {});
  const choice = h('select', { id: 'rule', on: { change: () => draw() } },
    h('option', { value: '' }, 'All rules'), rules.map(([name]) => h('option', { value: name }, name)));
  function draw() {
    const days = sums(counts.filter((it) => !choice.value || it.rule === choice.value), (it) => it.day).sort((a, b) => a[0] - b[0]);
    const of = choice.value ? ` of ${choice.value}` : '';
    show(target, overTime(`Placeholders${of} by day, from ${day(days[0][0])} to ${day(days.at(-1)[0])}`, days.map(([at, value]) => ({ at, value })), day),
      h('details', {}, h('summary', {}, 'The days as a table'), bars('By day', days.map(([at, value]) => ({ name: day(at), value, text: number(value) })))));
  }
  draw();
  return [h('h2', {}, 'Over time'), h('div', { class: 'row' }, h('div', { class: 'field' }, h('label', { for: 'rule' }, 'Rule'), choice)), target];
}

export async function render(context) {
  show(context.main, h('h1', {}, 'Redaction'), h('p', { role: 'status' }, 'Counting in all stored texts…'));
  const { counts } = await context.ask('redaction', { project: context.project });
  const rules = sums(counts, (it) => it.rule).sort((a, b) => b[1] - a[1]);
  const all = rules.reduce((sum, [, count]) => sum + count, 0);
  show(context.main, h('h1', {}, 'Redaction'),
    h('p', {}, 'Secrets are replaced before anything is stored. What is counted here are the placeholders in stored memories and events, by rule and by the day of the text. The values themselves were never stored.'),
    counts.length === 0 ? h('p', { class: 'quiet' }, 'No stored text has a placeholder.') : [
      h('p', {}, plural(all, 'placeholder', 'placeholders')),
      bars('By rule', rules.map(([name, value]) => ({ name, value, text: number(value) }))),
      history(counts, rules)]);
}
