// One memory with its whole life, and what can be done with it.

import { changes, RELATIONS } from '../changes.js';
import { facts, h, languageOf, said, show, table } from '../dom.js';
import { exact, path, plural, sayer, when } from '../format.js';

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

const FATES = { gone: 'is gone', missing: 'is not there', changed: 'has changed since' };

function fate(memory, file) {
  const outdated = memory.outdated_files?.find((it) => it.file === file);
  return outdated && [' ', h('span', { class: 'badge old' }, FATES[outdated.state] ?? 'is not as it was')];
}

export async function render(context) {
  const memory = await context.ask(`memory/${encodeURIComponent(context.id)}`);
  context.title(memory.title);
  const attributes = (memory.attributes ?? []).map(([name, value]) => [said(name, { class: 'code' }), said(value)]);
  show(context.main,
    h('h1', {}, said(memory.title)),
    h('div', { class: 'meta' }, h('span', { class: 'badge' }, memory.type.replaceAll('_', ' ')),
      memory.links?.some((link) => !link.undone_at && /ed_by$/u.test(link.relation) && link.relation !== 'followed_by') && h('span', { class: 'badge old' }, 'superseded'),
      memory.pinned_at && h('span', { class: 'badge pinned' }, 'pinned'), memory.wrong_at && h('span', { class: 'badge old' }, 'wrong')),
    memory.wrong_at && h('p', { class: 'bad' }, 'Marked wrong ', when(memory.wrong_at), memory.wrong_because && [': ', said(memory.wrong_because)]),
    h('pre', { class: 'text', lang: languageOf(memory.content) }, said(memory.content)),
    changes(memory, context, () => render(context)),
    h('h2', {}, 'Where it comes from'),
    facts([
      ['who said it', sayer(memory.said_by)],
      ['learned', exact(memory.created_at)],
      ['places', memory.seen > 1 ? `confirmed ${plural(memory.seen - 1, 'time', 'times')}: learned in ${memory.seen} places` : null],
      ['project', path(memory.project, context.state.home)],
      ['session', memory.session_id ? h('a', { href: context.address('session', {}, memory.session_id) }, said(memory.session_id, { class: 'code' })) : 'none'],
      ['transcript line', memory.line_uuid && said(memory.line_uuid, { class: 'code' })],
      ['transcript', memory.transcript && [path(memory.transcript.path, context.state.home), `, line ${memory.transcript.line}`]],
      ['policy', said(memory.policy)],
      ['its digest', memory.policy_digest && said(memory.policy_digest, { class: 'code' })],
      ['files', memory.files.map((file) => h('div', {}, said(file, { class: 'code' }), fate(memory, file)))],
      ['keywords', memory.keywords.length ? said(memory.keywords.join(', ')) : null],
      ['importance', memory.importance.toFixed(2)],
      ['used', plural(memory.access_count, 'time', 'times')],
      ['folded into', memory.digest && h('a', { href: context.address('memory', {}, memory.digest) }, memory.digest)],
      ['identifier', h('code', {}, memory.id)],
    ]),
    links(memory, context), folded(memory, context), told(memory, context),
    attributes.length > 0 && [h('h2', {}, 'What the policy noted'), table('Attributes', [['Name'], ['Value']], attributes)]);
}
