// Health: sizes, the hooks' last runs with their times, and what `doctor` finds.

import { bars } from '../chart.js';
import { h, said, show, table } from '../dom.js';
import { bytes, number, when } from '../format.js';

const WORDS = { ok: ['good', 'ok'], warn: ['', 'warning'], fail: ['bad', 'fails'] };

async function check(context, target) {
  show(target, h('p', { role: 'status' }, 'Checking…'));
  try {
    const { checks } = await context.ask('doctor', { project: context.project });
    show(target, table('What doctor found', [['Check'], ['Result'], ['Finding']], checks.map((it) => [it.check,
      h('span', { class: WORDS[it.status]?.[0] }, WORDS[it.status]?.[1] ?? it.status), [said(it.message), it.hint && h('div', { class: 'quiet' }, 'What to do: ', said(it.hint))]])));
  } catch (error) {
    show(target, context.problem(error));
  }
}

export async function render(context) {
  const { stats, sizes, runs } = await context.ask('health', { project: context.project });
  const findings = h('div', {});
  show(context.main, h('h1', {}, 'Health'),
    h('p', {}, h('button', { type: 'button', id: 'doctor', on: { click: () => check(context, findings) } }, 'Check everything'), ' ', h('span', { class: 'small quiet' }, 'This is `throughline doctor`. It also writes to the database, to see whether it can.')),
    findings,
    h('h2', {}, 'The last run of each hook'),
    runs.length === 0 ? h('p', { class: 'quiet' }, 'No hook has run yet.') : [
      bars('How long each took', runs.map((it) => ({ name: `${it.agent}: ${it.moment}`, value: it.took, text: `${it.took} ms` }))),
      table('What came of it', [['Hook'], ['When'], ['Told the agent', true], ['Log']], runs.map((it) => [said(`${it.agent}: ${it.moment}`), when(it.at), `${number(it.told)} characters`, it.warned ? 'has a warning' : ''])),
    ],
    h('h2', {}, 'Sizes'), bars('On disk', sizes.map((it) => ({ name: it.name, value: it.bytes, text: bytes(it.bytes) }))),
    stats && [h('h2', {}, 'What is stored'), bars('Memories by type', Object.entries(stats.types).map(([name, value]) => ({ name: name.replaceAll('_', ' '), value, text: number(value) }))),
      h('p', { class: 'quiet' }, `${number(stats.memories)} memories, ${number(stats.sessions)} sessions, ${number(stats.events)} events, ${number(stats.projects)} projects`)]);
}
