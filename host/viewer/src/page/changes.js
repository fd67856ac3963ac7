// What can be changed of a memory, each by a command. A preview says what would change, and an undo takes it back.

import { h, said, show } from './dom.js';
import { plural } from './format.js';

export const RELATIONS = {
  amended_by: 'amended by', reversed_by: 'reversed by', refuted_by: 'refuted by', completed_by: 'completed by', followed_by: 'followed by',
  amends: 'amends', reverses: 'reverses', refutes: 'refutes', completes: 'completes', follows: 'follows',
};

const STATED = [['amends', 'changes what this one says'], ['reverses', 'says the opposite'], ['refutes', 'shows that this one was never true'], ['completes', 'says that what this one planned is done']];

const DONE = { amends: 'amended', reverses: 'reversed', refutes: 'refuted', completes: 'completed' };

/** What the page says when it is shown again after a change: `{id, text, undo}`. */
let outcome = null;

const command = (text) => h('p', { class: 'small quiet' }, 'The command: ', h('code', {}, `throughline ${text}`));
const named = (it) => [said(it.title), h('span', { class: 'small quiet' }, ` ${it.type.replaceAll('_', ' ')} `), h('code', { class: 'small' }, it.id)];
const list = (items) => h('ul', { class: 'preview' }, items.map((it) => h('li', {}, named(it))));
const inForce = (memory) => (memory.links ?? []).filter((link) => !link.undone_at);

/** What one memory's changes need: the memory, the page, and where the panel is. */
class Desk {
  constructor(memory, context, again) {
    this.memory = memory;
    this.context = context;
    this.again = again;
    this.target = h('div', { id: 'change' });
  }

  /** Shows a panel in which something is prepared, confirmed or told. */
  panel(...children) {
    const box = h('section', { class: 'panel', tabindex: '-1', 'aria-label': 'Change' }, children);
    show(this.target, box);
    box.focus();
    box.scrollIntoView({ block: 'nearest' });
  }

  buttons(name, run, isDanger) {
    return h('div', { class: 'row end' }, h('button', { type: 'button', id: 'confirm', class: isDanger ? 'danger' : 'primary', on: { click: () => this.attempt(run) } }, name),
      h('button', { type: 'button', on: { click: () => show(this.target) } }, 'Cancel'));
  }

  async attempt(work) {
    try {
      await work();
    } catch (error) {
      this.panel(this.context.problem(error), h('div', { class: 'row end' }, h('button', { type: 'button', on: { click: () => show(this.target) } }, 'Close')));
    }
  }

  change(action, more = {}) {
    return this.context.change({ action, id: this.memory.id, ...more });
  }

  /** Shows the memory again, with what was done and what undoes it. */
  async done(text, undo) {
    outcome = { id: this.memory.id, text, undo };
    await this.again();
  }
}

/** Shows a preview of a change with one button, and undoes it with another action, unless the memory was so already (`isSo`). */
function simple(desk, { isSo, action, heading, explain, name, more = {}, told, back, backTold, words, preview }) {
  return desk.attempt(async () => {
    const would = preview ? await desk.change(action, { ...more, preview: true }) : null;
    desk.panel(h('h2', {}, heading), h('p', {}, explain), preview?.(would), command(words),
      desk.buttons(name, async () => {
        const wasSo = isSo?.(await desk.context.ask(`memory/${desk.memory.id}`));
        await desk.change(action, more);
        await desk.done(told, back && !wasSo && (async () => {
          await desk.change(back.action, back.more ?? {});
          await desk.done(backTold);
        }));
      }));
  });
}

function pin(desk) {
  const isPinned = Boolean(desk.memory.pinned_at);
  const [action, other] = isPinned ? ['unpin', 'pin'] : ['pin', 'unpin'];
  return simple(desk, {
    action, heading: isPinned ? 'Unpin it' : 'Pin it', name: isPinned ? 'Unpin' : 'Pin', words: `memory ${action} ${desk.memory.id}`,
    explain: isPinned ? 'It stays, and is told like any other memory.' : 'Every session of its project is told of it at its start, before everything else.',
    preview: (would) => h('p', { id: 'would' }, would.changed ? `This would be ${isPinned ? 'unpinned' : 'pinned'}: ` : 'Nothing would change: ', named(would)),
    told: isPinned ? 'It is no longer pinned.' : 'It is pinned.', back: { action: other }, backTold: isPinned ? 'It is pinned again.' : 'It is no longer pinned.',
  });
}

function marked(would) {
  return h('div', { id: 'would' }, h('p', {}, would.wrong ? 'Marked wrong, so no longer told or found:' : 'Told and found again:'), list(would.marked),
    would.holds_again.length > 0 && [h('p', {}, 'These hold again:'), list(would.holds_again)],
    would.superseded.length > 0 && [h('p', {}, 'Its place is taken again from these:'), list(would.superseded)]);
}

function right(desk) {
  return simple(desk, {
    action: 'right', heading: 'It is right after all', explain: 'The mark is taken back.', name: 'Mark right', words: `memory right ${desk.memory.id}`, preview: marked,
    told: 'It is no longer marked wrong.', back: { action: 'wrong', more: { because: desk.memory.wrong_because ?? '' } }, backTold: 'It is marked wrong again.',
  });
}

function wrong(desk) {
  const because = h('input', { id: 'because', type: 'text', maxlength: '500', autocomplete: 'off' });
  const look = async () => {
    const more = { because: because.value.trim() };
    const would = await desk.change('wrong', { ...more, preview: true });
    desk.panel(h('h2', {}, 'Mark it wrong'), marked(would), would.because && h('p', {}, 'Because: ', said(would.because)),
      h('p', { class: 'small quiet' }, 'It stays, with the mark, so that reading its transcript again does not bring it back.'), command(`memory wrong ${desk.memory.id}${more.because ? ' --because …' : ''}`),
      desk.buttons('Mark wrong', async () => {
        await desk.change('wrong', more);
        await desk.done('It is marked wrong.', async () => {
          await desk.change('right');
          await desk.done('It is no longer marked wrong.');
        });
      }, true));
  };
  desk.panel(h('h2', {}, 'Mark it wrong'), h('label', { for: 'because' }, 'Why it is wrong (may be left out)'), because, desk.buttons('Show what would change', look));
  because.focus();
}

/** A search for other memories of the project. `type` says whether one (`radio`) or several (`checkbox`) can be chosen. */
function picker(desk, type, label) {
  const { memory, context } = desk;
  const chosen = new Map();
  const field = h('input', { id: 'other', type: 'search', autocomplete: 'off', spellcheck: 'false' });
  const found = h('ul', { class: 'choices', 'aria-label': 'Memories to choose from' });
  const count = h('p', { class: 'small quiet', role: 'status' });
  let turn = 0;

  function choice(it) {
    const box = h('input', { type, name: 'other', id: `other-${it.id}`, checked: chosen.has(it.id), on: { change: () => {
      if (type === 'radio') chosen.clear();
      if (box.checked) chosen.set(it.id, it);
      else chosen.delete(it.id);
    } } });
    return h('li', {}, box, h('label', { for: `other-${it.id}` }, said(it.title), h('span', { class: 'small quiet' }, ` ${it.type.replaceAll('_', ' ')}`)));
  }

  async function look() {
    turn += 1;
    const own = turn;
    const query = field.value.trim();
    let entries = [];
    // A whole identifier is that memory; anything else is searched for.
    if (/^[0-9a-f]{8,}$/u.test(query)) entries = [await context.ask(`memory/${query}`)].filter(Boolean);
    else if (query) ({ entries } = await context.ask('search', { q: query, project: memory.project, limit: 12 }));
    else ({ entries } = await context.ask('memories', { project: memory.project, types: memory.type, limit: 12 }));
    if (own !== turn) return;
    const others = [...new Map([...chosen.values(), ...entries].map((it) => [it.id, it])).values()].filter((it) => it.id !== memory.id && !it.wrong);
    show(found, others.map(choice));
    count.textContent = others.length ? '' : 'Nothing else was found.';
  }

  let timer;
  const search = () => look().catch((error) => { if (error.name !== 'AbortError') count.textContent = error.message; });
  field.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(search, 250);
  });
  field.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') search();
  });
  search();
  return { element: h('div', {}, h('label', { for: 'other' }, label), field, h('fieldset', {}, h('legend', { class: 'small quiet' }, type === 'radio' ? 'Choose one' : 'Choose those that say the same'), found, count)), field, chosen };
}

function supersede(desk) {
  const { memory, context } = desk;
  const other = picker(desk, 'radio', 'Search for the memory that holds instead, or paste its identifier');
  const relation = h('select', { id: 'relation' }, STATED.map(([value, text]) => h('option', { value }, text)));
  const look = async () => {
    const [by] = other.chosen.keys();
    if (!by) {
      context.tell('Choose a memory first.');
      return;
    }
    const more = { by, relation: relation.value };
    const would = await desk.change('supersede', { ...more, preview: true });
    desk.panel(h('h2', {}, 'Another memory takes its place'),
      h('div', { id: 'would' }, h('p', {}, 'No longer told, and below the other one in searches:'), list([would.older]), h('p', {}, `${RELATIONS[`${DONE[would.relation]}_by`]}:`), list([would.newer]),
        would.until_now && [h('p', {}, 'Until now its place had:'), list([would.until_now])]),
      command(`memory supersede ${memory.id} ${by} --relation ${more.relation}`),
      desk.buttons('Take its place', async () => {
        const isOnly = inForce(memory).length === 0;
        await desk.change('supersede', more);
        // The command that undoes a link undoes all links of the memory.
        await desk.done(isOnly ? 'Another memory has its place.' : 'Another memory has its place. “Undo links…” undoes that with its other links.', isOnly && (async () => {
          await desk.change('unlink');
          await desk.done('It holds again.');
        }));
      }));
  };
  desk.panel(h('h2', {}, 'Another memory takes its place'), other.element, h('label', { for: 'relation' }, 'The other memory'), relation, desk.buttons('Show what would change', look));
  other.field.focus();
}

function merge(desk) {
  const { memory, context } = desk;
  const others = picker(desk, 'checkbox', 'Search for memories that say the same, or paste an identifier');
  const look = async () => {
    if (others.chosen.size === 0) {
      context.tell('Choose a memory first.');
      return;
    }
    const ids = [memory.id, ...others.chosen.keys()];
    const would = await context.change({ action: 'merge', ids, preview: true });
    const text = h('textarea', { id: 'merged', value: would.content });
    const run = async () => {
      const into = text.value.trim() === would.content.trim() ? '' : text.value;
      const done = await context.change({ action: 'merge', ids, text: into });
      outcome = { id: done.id, text: `${plural(done.sources.length, 'memory', 'memories')} became this one.`, undo: async () => {
        await context.change({ action: 'unlink', id: done.id });
        outcome = { id: memory.id, text: 'It holds again. The merged text stays until you forget it.' };
        context.navigate(`memory/${memory.id}`);
      } };
      context.navigate(`memory/${done.id}`);
    };
    desk.panel(h('h2', {}, 'Make one memory of them'), h('div', { id: 'would' }, h('p', {}, 'These stay and are no longer told:'), list(would.sources)),
      h('label', { for: 'merged' }, 'The text that takes their place'), text, command(`memory merge ${ids.join(' ')}`),
      desk.buttons(`Merge ${plural(would.sources.length, 'memory', 'memories')}`, run));
  };
  desk.panel(h('h2', {}, 'Merge it with others'), others.element, desk.buttons('Show what would change', look));
  others.field.focus();
}

/** Looks whether a forgotten memory is gone: the store has it no more, and no search for its title finds it. */
async function proof(done, memory, context) {
  const found = await context.ask('search', { q: memory.title, project: memory.project, limit: 50 });
  return done.gone && !found.entries.some((entry) => entry.id === memory.id);
}

function forget(desk) {
  const { memory, context } = desk;
  return desk.attempt(async () => {
    const would = await desk.change('forget', { preview: true });
    const run = async () => {
      const done = await desk.change('forget');
      const isGone = await proof(done, memory, context);
      const undo = done.undo && h('button', { type: 'button', id: 'undo', on: { click: () => desk.attempt(async () => {
        await context.change({ action: 'undo', id: done.undo });
        await desk.done('The memory is back.');
      }) } }, 'Bring it back');
      show(context.main, h('h1', {}, 'Forgotten'),
        h('p', { id: 'proof', class: isGone ? 'good' : 'bad' }, isGone ? 'It is gone: the store has it no more, and a search for its title does not find it.' : 'It can still be found.'),
        done.undo ? h('p', {}, 'For a day it can be brought back. Until then a file that nothing else reads keeps it.') : null,
        h('div', { class: 'row' }, undo, h('a', { href: context.address('search') }, 'All memories')), desk.target);
      context.main.focus();
    };
    desk.panel(h('h2', {}, 'This would be forgotten'), h('div', { id: 'would' }, list(would.deleted)),
      h('p', { class: 'small quiet' }, 'Notes and summaries of its session may still mention it; `throughline memory forget --match` deletes those too.'), command(`memory delete ${memory.id}`),
      desk.buttons(`Forget ${plural(would.deleted.length, 'memory', 'memories')}`, run, true));
  });
}

function correct(desk) {
  const { memory, context } = desk;
  const text = h('textarea', { id: 'correction', value: memory.content });
  const look = async () => {
    if (!text.value.trim() || text.value === memory.content) {
      context.tell('Change the text first.');
      return;
    }
    const save = async () => {
      const saved = await context.change({ action: 'correct', id: memory.id, text: text.value, kind: memory.type, project: memory.project });
      const isOnly = inForce(await context.ask(`memory/${saved.id}`)).length === 1;
      outcome = { id: saved.id, text: `Saved. It has the place of the former text.${isOnly ? '' : ' “Undo links…” undoes that with its other links.'}`, undo: isOnly && (async () => {
        await context.change({ action: 'unlink', id: saved.id });
        outcome = { id: memory.id, text: 'It holds again. The new text stays until you forget it.' };
        context.navigate(`memory/${memory.id}`);
      }) };
      context.navigate(`memory/${saved.id}`);
    };
    desk.panel(h('h2', {}, 'This would take its place'),
      h('div', { id: 'would' }, h('pre', { class: 'text old-text' }, said(memory.content)), h('pre', { class: 'text' }, said(text.value))),
      h('p', { class: 'small quiet' }, 'The old text stays and is no longer told.'), command(`memory save --supersedes ${memory.id}`),
      desk.buttons('Save the new text', save));
  };
  desk.panel(h('h2', {}, 'Correct it'), h('label', { for: 'correction' }, 'The text that holds'), text, desk.buttons('Show what would change', look));
  text.focus();
}

function unlink(desk) {
  const held = inForce(desk.memory);
  desk.panel(h('h2', {}, 'These links would be undone'),
    h('ul', { id: 'would' }, held.map((link) => h('li', {}, `${RELATIONS[link.relation] ?? link.relation} `, said(link.title)))), command(`memory unlink ${desk.memory.id}`),
    desk.buttons(`Undo ${plural(held.length, 'link', 'links')}`, async () => {
      await desk.change('unlink');
      await desk.done('The links are undone.');
    }));
}

function share(desk) {
  return simple(desk, {
    action: 'share', isSo: (now) => now.shared, heading: 'Share it with all projects', explain: 'Sessions of every project on this machine would be told of it.', name: 'Share with all projects', words: `memory share ${desk.memory.id}`,
    told: 'It is shared with all projects.', back: { action: 'unshare' }, backTold: 'It is no longer shared.',
  });
}

function unshare(desk) {
  return simple(desk, {
    action: 'unshare', heading: 'Share it no longer', explain: 'Sessions of other projects would no longer be told of it.', name: 'Unshare', words: `memory unshare ${desk.memory.id}`,
    told: 'It is no longer shared.', back: { action: 'share' }, backTold: 'It is shared with all projects again.',
  });
}

function mute(desk, person) {
  const { context } = desk;
  return desk.attempt(async () => {
    const would = await context.change({ action: 'mute', person, preview: true });
    desk.panel(h('h2', {}, 'Mute ', said(person)), h('p', { id: 'would' }, `${plural(would.hidden, 'memory goes', 'memories go')} from this machine. Nothing changes for others.`), command(`team mute --person ${person}`),
      desk.buttons('Mute', async () => {
        const done = await context.change({ action: 'mute', person });
        const undo = h('button', { type: 'button', id: 'undo', on: { click: () => desk.attempt(async () => {
          await context.change({ action: 'unmute', person });
          desk.panel(h('p', { role: 'status' }, said(person), ' is no longer muted. The next `throughline team sync` fetches what was hidden.'));
        }) } }, 'Unmute');
        show(context.main, h('h1', {}, 'Muted'), h('p', { id: 'proof', class: 'good' }, `${plural(done.hidden, 'memory is', 'memories are')} gone from this machine.`),
          h('div', { class: 'row' }, undo, h('a', { href: context.address('search') }, 'All memories')), desk.target);
        context.main.focus();
      }));
  });
}

/** The buttons of a memory, if changes are allowed. `again` shows the page again. */
export function changes(memory, context, again) {
  if (!context.state.write) return null;
  const desk = new Desk(memory, context, again);
  const colleague = (memory.attributes ?? []).find(([name]) => name === 'colleague')?.[1];
  const button = (name, run, isDanger) => h('button', { type: 'button', class: isDanger && 'danger', on: { click: () => run(desk) } }, name);
  const isWrong = Boolean(memory.wrong_at);
  const last = outcome?.id === memory.id ? outcome : null;
  outcome = null;
  if (last) {
    show(desk.target, h('section', { class: 'panel done', 'aria-label': 'Change' }, h('p', { role: 'status', id: 'done' }, last.text),
      last.undo && h('button', { type: 'button', id: 'undo', on: { click: () => desk.attempt(last.undo) } }, 'Undo')));
  }
  return h('section', { 'aria-label': 'Changes', class: 'no-print changes' },
    h('div', { class: 'row' }, !isWrong && button(memory.pinned_at ? 'Unpin…' : 'Pin…', pin), button('Correct…', correct), !isWrong && button('Supersede…', supersede), !isWrong && button('Merge…', merge),
      inForce(memory).length > 0 && button('Undo links…', unlink), memory.shared ? button('Unshare…', unshare) : button('Share…', share), colleague && button(`Mute ${colleague}…`, () => mute(desk, colleague)),
      isWrong ? button('Mark right…', right) : button('Mark wrong…', wrong, true), button('Forget…', forget, true)), desk.target);
}
