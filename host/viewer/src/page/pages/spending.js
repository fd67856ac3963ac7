// Spending: what policies asked language models for and what that cost, by day, policy and project.

import { bars, overTime } from '../chart.js';
import { h, said, show, table } from '../dom.js';
import { day, dollars, number, path, plural } from '../format.js';

/** The most rows of the table: a year of a few policies and projects. */
const MOST_ROWS = 1000;

const UNITS = {
  tokens: { title: 'Tokens', of: (row) => row.input_tokens + row.output_tokens, text: number },
  money: { title: 'US dollars', of: (row) => row.nano_usd, text: dollars },
};

function sums(rows, of, value) {
  const all = new Map();
  for (const row of rows) all.set(of(row), (all.get(of(row)) ?? 0) + value(row));
  return [...all];
}

const largestFirst = (a, b) => b[1] - a[1];
const names = (rows, of) => [...new Set(rows.map(of))].sort();

function choice(id, label, options, draw) {
  const select = h('select', { id, on: { change: draw } }, options.map(([value, text]) => h('option', { value }, text)));
  return [select, h('div', { class: 'field' }, h('label', { for: id }, label), select)];
}

/** The plot and the tables, with a choice of unit, policy and project. */
function plots(all, context) {
  const target = h('div', {});
  const draw = () => {
    const unit = UNITS[units.value];
    const rows = all.filter((row) => (!policies.value || row.policy === policies.value) && (!projects.value || row.project === projects.value));
    const days = sums(rows, (row) => Date.parse(row.day), unit.of).sort((a, b) => a[0] - b[0]);
    const bar = ([name, value]) => ({ name, value, text: unit.text(value) });
    const whole = rows.reduce((sum, row) => sum + unit.of(row), 0);
    if (rows.length === 0) {
      show(target, h('p', { class: 'quiet' }, 'This policy asked nothing for this project.'));
      return;
    }
    show(target,
      overTime(`${unit.title} by day, from ${day(days[0][0])} to ${day(days.at(-1)[0])}`, days.map(([at, value]) => ({ at, value })), day, unit.text),
      h('p', {}, `${plural(rows.reduce((sum, row) => sum + row.calls, 0), 'call', 'calls')}, ${unit.title === 'Tokens' ? plural(whole, 'token', 'tokens') : unit.text(whole)}`),
      bars(`${unit.title} by policy`, sums(rows, (row) => row.policy, unit.of).sort(largestFirst).map(bar)),
      bars(`${unit.title} by project`, sums(rows, (row) => row.project, unit.of).sort(largestFirst).map(bar)),
      h('details', {}, h('summary', {}, 'The days as a table'),
        table(rows.length > MOST_ROWS ? `The latest ${number(MOST_ROWS)} of ${number(rows.length)} rows` : 'By day, policy and project',
          [['Day'], ['Policy'], ['Project'], ['Calls', true], ['Without an answer', true], ['Tokens read', true], ['Tokens written', true], ['US dollars', true]],
          rows.slice(0, MOST_ROWS).map((row) => [row.day, said(row.policy), path(row.project, context.state.home), number(row.calls), number(row.failed),
            number(row.input_tokens), number(row.output_tokens), dollars(row.nano_usd)]))));
  };
  const [units, unitField] = choice('unit', 'Unit', Object.entries(UNITS).map(([name, unit]) => [name, unit.title]), draw);
  const [policies, policyField] = choice('policy', 'Policy', [['', 'All policies'], ...names(all, (row) => row.policy).map((name) => [name, name])], draw);
  const [projects, projectField] = choice('of', 'Project', [['', 'All projects'], ...names(all, (row) => row.project).map((name) => [name, name])], draw);
  draw();
  return [h('div', { class: 'row' }, unitField, policyField, !context.project && projectField), target];
}

/** Why there is nothing to see, and how that is changed. */
function none(context) {
  return [
    h('p', { class: 'quiet' }, context.project ? 'No language model was asked for this project in the last year.' : 'No language model was asked in the last year.'),
    h('p', {}, 'Models are off until you turn them on:'),
    h('ol', {},
      h('li', {}, 'Build a policy that asks a model and grant it that: ', h('code', {}, 'throughline policy add --grant policies/model-summaries/dist/model-summaries'), '.'),
      h('li', {}, 'Name a provider under ', h('code', {}, '[model]'), ' and a limit under ', h('code', {}, '[model.limits]'), ': ', h('code', {}, 'throughline config edit'), '.'),
      h('li', {}, 'See what would be sent: ', h('code', {}, 'throughline model outbox --dry-run'), '. The page docs/models.md has the details.'))];
}

export async function render(context) {
  const { rows } = await context.ask('spending', { project: context.project });
  show(context.main, h('h1', {}, 'Spending'),
    h('p', {}, 'What granted policies asked language models for in the last year, and what it cost. This is `throughline model spend`; the limits are in the configuration.'),
    rows.length === 0 ? none(context) : plots(rows, context));
}
