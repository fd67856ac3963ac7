// Changes memories in a headless Chromium: each button with its preview and its undo. `tests/tests/it/viewer.rs` starts this.
import assert from 'node:assert/strict';
import { accessible, finish, go, onlyText, open, setup, timed } from './driver.mjs';

const writer = await open(setup.writable);
assert.equal(await writer.locator('#mode').textContent(), 'changes are allowed');

await timed('correct', async () => {
  await go(writer, `#/memory/${setup.memory}`);
  await writer.getByRole('button', { name: 'Correct…' }).click();
  await accessible(writer, 'correcting');
  await writer.locator('#correction').fill('Always use four spaces in the otter exporter');
  await writer.locator('#confirm').click();
  await writer.getByText('This would take its place').waitFor();
  await writer.locator('#confirm').click();
  await writer.waitForURL((url) => url.hash.startsWith('#/memory/') && !url.hash.includes(setup.memory));
  await writer.locator('main').getByText('Before and after it').waitFor();
  await go(writer, `#/memory/${setup.memory}`);
  await writer.locator('.badge.old', { hasText: 'superseded' }).waitFor();
});

await timed('forget', async () => {
  await go(writer, `#/memory/${setup.forgettable}`);
  await writer.getByRole('button', { name: 'Forget…' }).click();
  await writer.getByText('This would be forgotten').waitFor();
  assert.ok((await writer.locator('.panel').textContent()).includes(setup.forgettableTitle), 'the preview does not name it');
  await writer.getByRole('button', { name: 'Cancel' }).click();
  await writer.getByRole('button', { name: 'Forget…' }).click();
  await writer.locator('#confirm').click();
  await writer.locator('#proof.good').waitFor();
  await accessible(writer, 'forgetting');
  await writer.locator('#undo').click();
  await writer.getByText('Where it comes from').waitFor();
  await writer.getByRole('button', { name: 'Forget…' }).click();
  await writer.locator('#confirm').click();
  await writer.locator('#proof.good').waitFor();
});

/** Opens the panel of a change, checks it, and returns the text of its preview. */
async function preview(name, first) {
  await writer.getByRole('button', { name, exact: true }).click();
  if (first) {
    await first();
    await accessible(writer, name);
    await writer.locator('#confirm').click();
  }
  await writer.locator('#would').waitFor();
  await accessible(writer, `the preview of ${name}`);
  return writer.locator('.panel').textContent();
}

/** Asks the command what it says of a memory: the page must not say more than that. */
const stored = (id) => writer.evaluate(async (it) => (await fetch(`/api/memory/${it}`)).json(), id);

async function choose(words, id) {
  await writer.locator('#other').fill(words);
  await writer.locator(`#other-${id}`).waitFor();
  await writer.locator(`#other-${id}`).check();
}

/** Confirms, waits for the word that it is done, and undoes it. */
async function confirmed(isDone, isUndone) {
  await writer.locator('#confirm').click();
  await writer.locator('#done', { hasText: isDone }).waitFor();
  if (!isUndone) return;
  await accessible(writer, `after “${isDone}”`);
  await writer.locator('#undo').click();
  await writer.locator('#done', { hasText: isUndone }).waitFor();
}

await timed('pin and mark wrong', async () => {
  const [id] = setup.marked;
  await go(writer, `#/memory/${id}`);
  assert.match(await preview('Pin…'), /would be pinned/u);
  assert.equal((await stored(id)).pinned_at, undefined, 'a preview pinned it');
  await confirmed('It is pinned.');
  await writer.locator('.badge', { hasText: 'pinned' }).waitFor();
  assert.ok((await stored(id)).pinned_at);
  await writer.locator('#undo').click();
  await writer.locator('#done', { hasText: 'no longer pinned' }).waitFor();
  assert.equal((await stored(id)).pinned_at, undefined);
  const shown = await preview('Mark wrong…', () => writer.locator('#because').fill('the wombat moved <b>out</b>'));
  assert.ok(shown.includes('the wombat moved <b>out</b>') && !(await stored(id)).wrong_at, shown);
  await confirmed('It is marked wrong.');
  assert.equal((await stored(id)).wrong_because, 'the wombat moved <b>out</b>');
  await writer.locator('.badge.old', { hasText: 'wrong' }).waitFor();
  assert.equal(await writer.getByRole('button', { name: 'Pin…' }).count(), 0, 'what is wrong can be pinned');
  await accessible(writer, 'a memory that is wrong');
  assert.match(await preview('Mark right…'), /Told and found again/u);
  await confirmed('no longer marked wrong', 'marked wrong again');
  assert.equal((await stored(id)).wrong_because, 'the wombat moved <b>out</b>', 'the undo lost the reason');
  await preview('Mark right…');
  await confirmed('no longer marked wrong');
  assert.equal((await stored(id)).wrong_at, undefined);
});

await timed('supersede and merge', async () => {
  const [id, other, third] = setup.marked;
  await go(writer, `#/memory/${id}`);
  const shown = await preview('Supersede…', async () => {
    await choose('second invoices', other);
    await writer.locator('#relation').selectOption('reverses');
  });
  assert.ok(shown.includes('second') && shown.includes('reversed by'), shown);
  assert.equal((await stored(id)).links, undefined, 'a preview made a link');
  await confirmed('Another memory has its place.');
  assert.deepEqual((await stored(id)).links.map((it) => [it.relation, it.id, it.undone_at]), [['reversed_by', other, undefined]]);
  await writer.locator('#undo').click();
  await writer.locator('#done', { hasText: 'It holds again.' }).waitFor();
  assert.ok((await stored(id)).links[0].undone_at, 'the undo left the link');

  // By its identifier, and with a text of its own.
  const merged = await preview('Merge…', () => choose(third, third));
  assert.ok(merged.includes('first') && merged.includes('third'), merged);
  await writer.locator('#merged').fill('The wombat depot keeps its keys in one box');
  await writer.locator('#confirm').click();
  await writer.locator('#done', { hasText: '2 memories became this one' }).waitFor();
  const made = decodeURIComponent(new URL(writer.url()).hash.split(/[/?]/u)[2]);
  assert.equal((await stored(made)).content, 'The wombat depot keeps its keys in one box');
  assert.ok((await stored(third)).links.some((it) => it.id === made && !it.undone_at));
  await accessible(writer, 'a merged memory');
  await writer.locator('#undo').click();
  await writer.locator('#done', { hasText: 'It holds again' }).waitFor();
  assert.ok((await stored(third)).links.every((it) => it.undone_at), 'the undo left a link');

  // One button, by what is so now.
  const offered = async () => [await writer.getByRole('button', { name: 'Share…', exact: true }).count(), await writer.getByRole('button', { name: 'Unshare…', exact: true }).count()];
  assert.deepEqual(await offered(), [1, 0]);
  await writer.getByRole('button', { name: 'Share…', exact: true }).click();
  await confirmed('shared with all projects', 'no longer shared');
  assert.deepEqual(await offered(), [1, 0]);
  await writer.getByRole('button', { name: 'Share…', exact: true }).click();
  await writer.locator('#confirm').click();
  await writer.locator('#done', { hasText: 'shared with all projects' }).waitFor();
  assert.deepEqual(await offered(), [0, 1]);
  assert.equal((await stored(id)).shared, true);
  await writer.getByRole('button', { name: 'Unshare…', exact: true }).click();
  await confirmed('no longer shared', 'shared with all projects again');
  assert.equal((await stored(id)).shared, true);
  await go(writer, `#/memory/${third}`);
  await writer.getByRole('button', { name: 'Share…', exact: true }).click();
  // Meanwhile something else shares it: there is nothing to undo then.
  await writer.evaluate((it) => fetch('/api/do', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ action: 'share', id: it }) }), third);
  assert.equal((await stored(third)).shared, true);
  await writer.locator('#confirm').click();
  await writer.locator('#done', { hasText: 'shared with all projects' }).waitFor();
  assert.equal(await writer.locator('#undo').count(), 0, 'the undo would unshare what was shared before');
});

await timed('a correction and its undo', async () => {
  await go(writer, `#/memory/${setup.correctable}`);
  await preview('Correct…', () => writer.locator('#correction').fill('The narwhal gate closes at dusk'));
  await writer.locator('#confirm').click();
  await writer.locator('#done', { hasText: 'It has the place of the former text.' }).waitFor();
  assert.equal((await stored(setup.correctable)).links.filter((it) => !it.undone_at).length, 1);
  await writer.locator('#undo').click();
  await writer.locator('#done', { hasText: 'It holds again.' }).waitFor();
  assert.ok(writer.url().includes(setup.correctable), writer.url());
  assert.ok((await stored(setup.correctable)).links.every((it) => it.undone_at), 'the undo left the link');
});

await timed('a hostile memory in every panel', async () => {
  const [id, other] = setup.hostile;
  await go(writer, `#/memory/${id}`);
  const looked = async (name, first) => {
    assert.ok((await preview(name, first)).includes('__ran=1'), `${name} shows nothing of it`);
    await onlyText(writer, name);
    await writer.getByRole('button', { name: 'Cancel' }).click();
  };
  await looked('Pin…');
  await looked('Correct…', () => writer.locator('#correction').fill('</textarea><svg onload=__ran=1>'));
  await looked('Mark wrong…', () => writer.locator('#because').fill('<img src=x onerror=__ran=1>'));
  await looked('Supersede…', () => choose('payload', other));
  await looked('Merge…', () => choose('payload', other));
  await looked('Forget…');
  await writer.getByRole('button', { name: 'Share…', exact: true }).click();
  await onlyText(writer, 'Share…');
  await preview('Mark wrong…', () => writer.locator('#because').fill('<img src=x onerror=__ran=1>'));
  await confirmed('It is marked wrong.');
  await onlyText(writer, 'a hostile reason');
});

await timed('mute', async () => {
  if (!setup.colleague) return;
  await go(writer, `#/memory/${setup.colleague}`);
  assert.match(await preview('Mute ann…'), /1 memory goes from this machine/u);
  await writer.locator('#confirm').click();
  await writer.locator('#proof.good', { hasText: '1 memory is gone' }).waitFor();
  await accessible(writer, 'after muting');
  await writer.locator('#undo').click();
  await writer.getByText('is no longer muted').waitFor();
});

await finish();
