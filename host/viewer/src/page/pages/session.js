// One session: what it was about, and its timeline, which can be scrubbed: beside it is what the agent had been told by then.

import { facts, h, said, show, table } from '../dom.js';
import { clock, exact, happened, path, plural } from '../format.js';
import { longList } from '../list.js';

/** What happened at one moment, with its whole text. */
function moment(step, context) {
  if (!step) return h('p', { class: 'quiet' }, 'This is no longer here.');
  return [h('h3', {}, step.memory ? `Told at ${step.moment}` : happened(step), ' ', h('span', { class: 'quiet small' }, clock(step.at))),
    step.failed && h('p', { class: 'bad' }, 'It failed.'),
    h('p', {}, step.memory ? h('a', { href: context.address('memory', {}, step.memory) }, said(step.summary)) : said(step.summary), step.times > 1 && ` (${step.times}×)`),
    step.files?.length > 0 && h('p', { class: 'small' }, step.files.map((file) => h('div', {}, said(file, { class: 'code' })))),
    step.detail && h('pre', { class: 'text small' }, said(step.detail))];
}

function line(step, context) {
  return h('div', { class: ['step', step.failed && 'failed', step.memory && 'told'].filter(Boolean).join(' ') }, clock(step.at),
    h('span', { class: 'quiet' }, step.memory ? `told at ${step.moment}` : happened(step)),
    step.memory ? h('a', { href: context.address('memory', {}, step.memory) }, said(step.summary)) : h('span', {}, step.failed && h('strong', { class: 'bad' }, 'failed '), said(step.summary), step.times > 1 && ` (${step.times}×)`));
}

/** The timeline: only what is visible is loaded. Beside the chosen moment stands what the agent had been told by then. */
function replay(session, context) {
  const name = `${Date.now()}.${Math.random()}`;
  const slider = h('input', { type: 'range', id: 'moment', min: '0', max: '0', value: '0' });
  const output = h('output', { for: 'moment' });
  const detail = h('div', { class: 'moment' });
  const knew = h('ul', {});
  const count = h('p', { class: 'quiet' });
  let all = 0;
  const list = longList({
    label: 'Timeline', size: 'slim', empty: 'Nothing was recorded of its events.',
    load: (at, limit) => context.ask(`session/${encodeURIComponent(session.id)}/moments`, { at, limit, list: name }),
    row: (step) => line(step, context),
    total: (total) => {
      all = total;
      slider.max = String(Math.max(0, total - 1));
    },
    pick: (at, step) => {
      slider.value = String(at);
      slider.setAttribute('aria-valuetext', `step ${at + 1} of ${all}${step ? `: ${happened(step)}` : ''}`);
      if (step === undefined) {
        show(output, `step ${at + 1} of ${all}`);
        return;
      }
      show(output, `step ${at + 1} of ${all}`, step && [', ', clock(step.at)]);
      show(detail, moment(step, context));
      if (!step) return;
      const known = session.told.filter((it) => it.at <= step.at);
      count.textContent = known.length ? `By then it had been told ${plural(known.length, 'memory', 'memories')}:` : 'By then it had been told nothing.';
      show(knew, known.map((it) => h('li', {}, h('a', { href: context.address('memory', {}, it.memory) }, said(it.title)), h('span', { class: 'small quiet' }, ` at ${it.moment}`))));
    },
  });
  slider.addEventListener('input', () => list.select(Number(slider.value)));
  const element = h('div', { class: 'replay' }, h('div', { class: 'scrub no-print' }, h('label', { for: 'moment' }, 'Moment'), slider, output),
    h('div', { class: 'columns' }, h('section', { 'aria-label': 'What happened' }, list.element),
      h('section', { 'aria-label': 'What the agent knew' }, detail, h('h3', {}, 'What the agent knew'), count, knew)));
  return { element, start: async () => {
    await list.start();
    list.select(all - 1);
  } };
}

const listed = (title, items, one = (it) => said(it)) => (items?.length ? [h('h2', {}, title), h('ul', {}, items.map((it) => h('li', {}, one(it))))] : null);

export async function render(context) {
  const session = await context.ask(`session/${encodeURIComponent(context.id)}`);
  const timeline = replay(session, context);
  const title = session.title || session.id;
  context.title(title);
  show(context.main, h('h1', {}, said(title)),
    facts([
      ['session', said(session.id, { class: 'code' })],
      ['project', path(session.project, context.state.home)],
      ['agent', said([session.agent, session.model].filter(Boolean).join(' '))],
      ['started', exact(session.started_at)],
      ['last seen', exact(session.last_at)],
      ['ended', session.end_reason ? said(session.end_reason) : 'it runs, or was not ended'],
      ['turns', String(session.turns)],
      ['outcome', session.outcome && said(session.outcome)],
    ]),
    h('h2', {}, 'Replay'), timeline.element,
    listed('Memories learned in it', session.memories, (it) => [h('a', { href: context.address('memory', {}, it.id) }, said(it.title)), h('span', { class: 'small quiet' }, ` ${it.type.replaceAll('_', ' ')}`)]),
    listed('Done', session.done), listed('Open', [...session.blockers, ...session.current, ...session.pending]),
    listed('Decisions', session.decisions, (it) => [said(it.what), it.why && [': ', said(it.why)]]),
    session.failures.length > 0 && [h('h2', {}, 'Failures'), table('Failures of this session', [['What'], ['Error'], ['Fixed by']],
      session.failures.map((it) => [said(it.subject), said(it.error), it.fix ? said(it.fix) : 'nothing yet']))],
    session.tools.length > 0 && [h('h2', {}, 'Tools'), table('Uses of tools', [['Tool'], ['Uses', true], ['Failed', true]], session.tools.map((it) => [said(it.name), it.uses, it.failed]))],
    session.changes.length > 0 && [h('h2', {}, 'Files'), table('Changed files', [['File'], ['Added', true], ['Removed', true]], session.changes.map((it) => [said(it.path, { class: 'code' }), it.added, it.removed]))]);
  await timeline.start();
}
