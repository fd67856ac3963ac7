// One memory with its whole life, and what can be done with it.

import { facts, h, languageOf, said, show, table } from '../dom.js';
import { exact, path, plural, sayer, when } from '../format.js';

const RELATIONS = {
  amended_by: 'amended by', reversed_by: 'reversed by', refuted_by: 'refuted by', completed_by: 'completed by', followed_by: 'followed by',
  amends: 'amends', reverses: 'reverses', refutes: 'refutes', completes: 'completes', follows: 'follows',
};

function links(memory, context) {
  if (!memory.links?.length) return null;
  const how = (link) => (link.undone_at ? 'undone' : link.similarity === undefined ? 'stated' : `similarity ${link.similarity.toFixed(2)}`);
  return [h('h2', {}, 'Before and after it'),
    h('ul', { class: 'plain' }, memory.links.map((link) => h('li', { 'data-item': true },
      h('span', {}, `${RELATIONS[link.relation] ?? link.relation.replaceAll('_', ' ')} `),
      h('a', { href: context.address('memory', {}, link.id) }, said(link.title)),
      h('div', { class: 'meta' }, when(link.created_at), h('span', {}, how(link))))))];
}

function told(memory, context) {
  const rows = (memory.told ?? []).map((it) => [exact(it.at), it.moment, h('a', { href: context.address('session', {}, it.session_id) }, said(it.session_id, { class: 'code' }))]);
  return [h('h2', {}, 'Every time it was told'),
    rows.length ? table('Sessions that were told of it', [['When'], ['Moment'], ['Session']], rows) : h('p', { class: 'quiet' }, 'No session was told of it yet.')];
}

function folded(memory, context) {
  if (!memory.folded) return null;
  const { sources, made_at: made } = memory.folded;
  return [h('h2', {}, 'Made of'), h('p', {}, plural(sources.length, 'memory', 'memories'), ', ', exact(made)),
    h('ul', {}, sources.map((source) => h('li', {}, h('a', { href: context.address('memory', {}, source.id) }, said(source.title ?? source.id)))))];
}

/** The panel in which something is prepared and confirmed. */
function panel(target, ...children) {
  const box = h('section', { class: 'panel', tabindex: '-1', 'aria-label': 'Change' }, children);
  show(target, box);
  box.focus();
  return box;
}

function buttons(confirm, target, isDanger) {
  return h('div', { class: 'row' }, h('button', { type: 'button', id: 'confirm', class: isDanger && 'danger', on: { click: confirm.run } }, confirm.name),
    h('button', { type: 'button', on: { click: () => show(target) } }, 'Cancel'));
}

async function attempt(context, target, work) {
  try {
    await work();
  } catch (error) {
    panel(target, context.problem(error));
  }
}

/** Looks whether a forgotten memory is gone: the store has it no more, and no search for its title finds it. */
async function proof(done, memory, context) {
  const found = await context.ask('search', { q: memory.title, project: memory.project, limit: 50 });
  return done.gone && !found.entries.some((entry) => entry.id === memory.id);
}

function forget(memory, context, target) {
  return attempt(context, target, async () => {
    const preview = await context.change({ action: 'preview_forget', id: memory.id });
    const isDone = async () => {
      const done = await context.change({ action: 'forget', id: memory.id });
      const isGone = await proof(done, memory, context);
      const undo = done.undo && h('button', { type: 'button', id: 'undo', on: { click: () => attempt(context, target, async () => {
        await context.change({ action: 'undo', id: done.undo });
        context.tell('The memory is back.');
        await render(context);
      }) } }, 'Bring it back');
      show(context.main, h('h1', {}, 'Forgotten'),
        h('p', { id: 'proof', class: isGone ? 'good' : 'bad' }, isGone ? 'It is gone: the store has it no more, and a search for its title does not find it.' : 'It can still be found.'),
        done.undo ? h('p', {}, 'For a day it can be brought back. Until then a file that nothing else reads keeps it.') : null,
        h('div', { class: 'row' }, undo, h('a', { href: context.address('search') }, 'All memories')));
      context.main.focus();
    };
    panel(target, h('h2', {}, 'This would be forgotten'),
      h('ul', {}, preview.deleted.map((it) => h('li', {}, h('code', {}, it.id), ` ${it.type.replaceAll('_', ' ')}: `, said(it.title)))),
      h('p', { class: 'small quiet' }, 'Notes and summaries of its session may still mention it; `throughline memory forget --match` deletes those too. This is `throughline memory delete`.'),
      buttons({ name: `Forget ${plural(preview.deleted.length, 'memory', 'memories')}`, run: () => attempt(context, target, isDone) }, target, true));
  });
}

function correct(memory, context, target) {
  const text = h('textarea', { id: 'correction', value: memory.content });
  const look = () => {
    if (!text.value.trim() || text.value === memory.content) {
      context.tell('Change the text first.');
      return;
    }
    const save = async () => {
      const saved = await context.change({ action: 'correct', id: memory.id, text: text.value, kind: memory.type, project: memory.project });
      context.tell('Saved.');
      context.navigate(`memory/${saved.id}`);
    };
    panel(target, h('h2', {}, 'This would take its place'),
      h('pre', { class: 'text old-text' }, said(memory.content)), h('pre', { class: 'text' }, said(text.value)),
      h('p', { class: 'small quiet' }, `The old text stays and is no longer told. This is \`throughline memory save --supersedes ${memory.id}\`; unlinking undoes it.`),
      buttons({ name: 'Save the new text', run: () => attempt(context, target, save) }, target));
  };
  panel(target, h('h2', {}, 'Correct it'), h('label', { for: 'correction' }, 'The text that holds'), text,
    buttons({ name: 'Show what would change', run: look }, target));
  text.focus();
}

function unlink(memory, context, target) {
  const held = memory.links.filter((link) => !link.undone_at);
  panel(target, h('h2', {}, 'These links would be undone'),
    h('ul', {}, held.map((link) => h('li', {}, `${RELATIONS[link.relation] ?? link.relation} `, said(link.title)))),
    h('p', { class: 'small quiet' }, 'This is `throughline memory unlink`.'),
    buttons({ name: `Undo ${plural(held.length, 'link', 'links')}`, run: () => attempt(context, target, async () => {
      await context.change({ action: 'unlink', id: memory.id });
      context.tell('The links are undone.');
      await render(context);
    }) }, target));
}

function share(memory, context, target, action) {
  const what = action === 'share' ? 'Sessions of every project would be told of it.' : 'Sessions of other projects would no longer be told of it.';
  panel(target, h('h2', {}, action === 'share' ? 'Share it' : 'Share it no longer'), h('p', {}, what),
    h('p', { class: 'small quiet' }, `This is \`throughline memory ${action}\`; the other button undoes it.`),
    buttons({ name: action === 'share' ? 'Share with all projects' : 'Unshare', run: () => attempt(context, target, async () => {
      await context.change({ action, id: memory.id });
      show(target);
      context.tell(action === 'share' ? 'It is shared.' : 'It is shared no longer.');
    }) }, target));
}

function actions(memory, context) {
  if (!context.state.write) return null;
  const target = h('div', {});
  const button = (name, run, isDanger) => h('button', { type: 'button', class: isDanger && 'danger', on: { click: () => run(memory, context, target) } }, name);
  return h('section', { 'aria-label': 'Changes', class: 'no-print' },
    h('div', { class: 'row' }, button('Correct…', correct),
      memory.links?.some((link) => !link.undone_at) && button('Undo links…', unlink),
      button('Share…', (...all) => share(...all, 'share')), button('Unshare…', (...all) => share(...all, 'unshare')),
      button('Forget…', forget, true)), target);
}

export async function render(context) {
  const memory = await context.ask(`memory/${encodeURIComponent(context.id)}`);
  context.title(memory.title);
  const attributes = (memory.attributes ?? []).map(([name, value]) => [said(name, { class: 'code' }), said(value)]);
  show(context.main,
    h('h1', {}, said(memory.title)),
    h('div', { class: 'meta' }, h('span', { class: 'badge' }, memory.type.replaceAll('_', ' ')),
      memory.links?.some((link) => !link.undone_at && /ed_by$/u.test(link.relation) && link.relation !== 'followed_by') && h('span', { class: 'badge old' }, 'superseded')),
    h('pre', { class: 'text', lang: languageOf(memory.content) }, said(memory.content)),
    actions(memory, context),
    h('h2', {}, 'Where it comes from'),
    facts([
      ['who said it', sayer(memory.said_by)],
      ['learned', exact(memory.created_at)],
      ['places', memory.seen > 1 ? `learned in ${memory.seen} places` : null],
      ['project', path(memory.project, context.state.home)],
      ['session', memory.session_id ? h('a', { href: context.address('session', {}, memory.session_id) }, said(memory.session_id, { class: 'code' })) : 'none'],
      ['transcript line', memory.line_uuid && said(memory.line_uuid, { class: 'code' })],
      ['policy', said(memory.policy)],
      ['its digest', memory.policy_digest && said(memory.policy_digest, { class: 'code' })],
      ['files', memory.files.map((file) => h('div', {}, said(file, { class: 'code' })))],
      ['keywords', memory.keywords.length ? said(memory.keywords.join(', ')) : null],
      ['importance', memory.importance.toFixed(2)],
      ['used', plural(memory.access_count, 'time', 'times')],
      ['folded into', memory.digest && h('a', { href: context.address('memory', {}, memory.digest) }, memory.digest)],
      ['identifier', h('code', {}, memory.id)],
    ]),
    links(memory, context), folded(memory, context), told(memory, context),
    attributes.length > 0 && [h('h2', {}, 'What the policy noted'), table('Attributes', [['Name'], ['Value']], attributes)]);
}
