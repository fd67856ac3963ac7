// One session: what it was about, and its timeline, which can be scrubbed: beside it is what the agent had been told by then.

import { facts, h, said, show, table } from '../dom.js';
import { clock, exact, happened, path, plural } from '../format.js';

/** The most events that are loaded to be scrubbed. */
const MOST = 5000;
/** How many events are in the page at a time. */
const WINDOW = 80;

async function events(context, id) {
  const all = [];
  let cursor;
  do {
    const page = await context.ask(`session/${encodeURIComponent(id)}/events`, { cursor, limit: 200 });
    all.push(...page.entries);
    cursor = page.next;
  } while (cursor && all.length < MOST);
  return all;
}

function replay(session, all, context) {
  // What happened and what was told and learned, in one order.
  const told = session.told.map((it) => ({ type: 'told', at: it.at, summary: it.title, memory: it.memory, moment: it.moment }));
  const steps = [...all, ...told].sort((a, b) => a.at - b.at);
  if (steps.length === 0) return h('p', { class: 'quiet' }, 'Nothing was recorded of its events.');
  const slider = h('input', { type: 'range', id: 'moment', min: '0', max: String(steps.length - 1), value: String(steps.length - 1) });
  const moment = h('output', { for: 'moment' });
  const list = h('ol', { class: 'feed', 'aria-label': 'Timeline' });
  const knew = h('ul', {});
  const count = h('p', { class: 'quiet' });

  function line(step, isNow) {
    const text = step.memory ? h('a', { href: context.address('memory', {}, step.memory) }, said(step.summary)) : said(step.summary);
    const detail = step.detail && h('details', {}, h('summary', {}, 'Whole text'), h('pre', { class: 'text small' }, said(step.detail)));
    return h('li', { class: [step.failed && 'failed', step.memory && 'told', isNow && 'now'].filter(Boolean).join(' '), 'aria-current': isNow && 'step' },
      clock(step.at), h('span', {}, step.memory ? `told at ${step.moment}` : happened(step)),
      h('div', {}, step.failed && h('strong', { class: 'bad' }, 'failed '), text, step.times > 1 && ` (${step.times}×)`, detail));
  }

  function paint() {
    const at = Number(slider.value);
    const step = steps[at];
    const first = Math.max(0, Math.min(at - WINDOW / 2, steps.length - WINDOW));
    show(list, steps.slice(first, first + WINDOW).map((it, index) => line(it, first + index === at)));
    show(moment, `step ${at + 1} of ${steps.length}, `, clock(step.at));
    const known = told.filter((it) => it.at <= step.at);
    count.textContent = known.length ? `By then it had been told ${plural(known.length, 'memory', 'memories')}:` : 'By then it had been told nothing.';
    show(knew, known.map((it) => h('li', {}, h('a', { href: context.address('memory', {}, it.memory) }, said(it.summary)), h('span', { class: 'small quiet' }, ` at ${it.moment}`))));
    slider.setAttribute('aria-valuetext', `step ${at + 1} of ${steps.length}: ${happened(step)}`);
  }
  slider.addEventListener('input', paint);
  paint();
  return [h('div', { class: 'no-print' }, h('label', { for: 'moment' }, 'Moment'), slider, moment),
    h('div', { class: 'columns' }, h('section', { 'aria-label': 'What happened' }, list),
      h('section', { 'aria-label': 'What the agent knew' }, h('h3', {}, 'What the agent knew'), count, knew))];
}

const listed = (title, items, one = (it) => said(it)) => (items?.length ? [h('h2', {}, title), h('ul', {}, items.map((it) => h('li', {}, one(it))))] : null);

export async function render(context) {
  const session = await context.ask(`session/${encodeURIComponent(context.id)}`);
  const all = await events(context, session.id);
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
    h('h2', {}, 'Replay'), replay(session, all, context),
    listed('Memories learned in it', session.memories, (it) => [h('a', { href: context.address('memory', {}, it.id) }, said(it.title)), h('span', { class: 'small quiet' }, ` ${it.type.replaceAll('_', ' ')}`)]),
    listed('Done', session.done), listed('Open', [...session.blockers, ...session.current, ...session.pending]),
    listed('Decisions', session.decisions, (it) => [said(it.what), it.why && [': ', said(it.why)]]),
    session.failures.length > 0 && [h('h2', {}, 'Failures'), table('Failures of this session', [['What'], ['Error'], ['Fixed by']],
      session.failures.map((it) => [said(it.subject), said(it.error), it.fix ? said(it.fix) : 'nothing yet']))],
    session.tools.length > 0 && [h('h2', {}, 'Tools'), table('Uses of tools', [['Tool'], ['Uses', true], ['Failed', true]], session.tools.map((it) => [said(it.name), it.uses, it.failed]))],
    session.changes.length > 0 && [h('h2', {}, 'Files'), table('Changed files', [['File'], ['Added', true], ['Removed', true]], session.changes.map((it) => [said(it.path, { class: 'code' }), it.added, it.removed]))]);
}
