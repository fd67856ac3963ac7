// Drives every page of the viewer in a headless Chromium. `tests/tests/it/viewer.rs` prepares a home and starts this program with the
// path of a JSON file that says where everything is. It prints one JSON object: what was measured.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import assert from 'node:assert/strict';
import path from 'node:path';

const setup = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const require = createRequire(path.join(setup.modules, 'package.json'));
const { chromium } = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const measured = { pages: {}, live: [] };
const errors = [];
const strangers = [];
const browser = await chromium.launch({ executablePath: setup.chromium, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });

/** Opens the viewer at this address in a browser of its own. */
async function open(address, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 800 }, reducedMotion: 'reduce', ...options });
  const { origin } = new URL(address);
  context.on('request', (request) => {
    if (new URL(request.url()).origin !== origin) strangers.push(request.url());
  });
  const page = await context.newPage();
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) errors.push(`${message.text()} (${page.url()})`);
  });
  page.on('pageerror', (error) => errors.push(`${error} (${page.url()})`));
  page.on('dialog', (dialog) => {
    errors.push(`a dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.setDefaultTimeout(30_000);
  await page.goto(address);
  await shown(page);
  return page;
}

/** Waits until the page of the address is complete. */
async function shown(page) {
  await page.waitForFunction(() => document.getElementById('main').dataset.shows === location.hash);
}

/** Goes to a page of the viewer. */
async function go(page, hash) {
  await page.evaluate((to) => { location.hash = to; }, hash);
  await shown(page);
}

/** Fails if axe finds anything that is against WCAG 2.2 AA. */
async function accessible(page, what) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }));
  const told = found.violations.map((it) => `${it.id}: ${it.help}\n${it.nodes.slice(0, 3).map((node) => `  ${node.html.slice(0, 200)} ${node.failureSummary}`).join('\n')}`);
  assert.deepEqual(told, [], `${what} is not accessible:\n${told.join('\n')}`);
}

/** Fails if stored text has become anything else than text. */
async function onlyText(page, what) {
  const found = await page.evaluate(() => ({
    ran: globalThis.__ran,
    elements: [...document.querySelectorAll('main script, main iframe, main img, main object, main embed, main link, main style, main base, main meta, main video, main math, main template, main [onload], main [onerror], main [onclick], main [ontoggle], main [onfocus], main [style*="expression"]')].map((it) => it.outerHTML.slice(0, 200)),
    links: [...document.querySelectorAll('main a')].map((it) => it.getAttribute('href')).filter((it) => !it.startsWith('#/')),
    title: document.title,
  }));
  assert.equal(found.ran, undefined, `${what}: a payload ran`);
  assert.deepEqual(found.elements, [], `${what}: a payload became an element`);
  assert.deepEqual(found.links, [], `${what}: a payload became a link`);
}

/** Runs a real hook, as the agent does, and returns when it was started and when it had ended. */
function hook(payload) {
  return new Promise((resolve, reject) => {
    const began = Date.now();
    const child = spawn(setup.program, ['hook'], { env: setup.environment, cwd: setup.project, stdio: ['pipe', 'ignore', 'inherit'] });
    child.on('error', reject);
    child.on('exit', (code) => (code === 0 ? resolve({ began, ended: Date.now() }) : reject(new Error(`the hook ended with ${code}`))));
    child.stdin.end(`${JSON.stringify(payload)}\n`);
  });
}

async function timed(name, work) {
  const began = Date.now();
  await work();
  measured.pages[name] = Date.now() - began;
}

const reader = await open(setup.readonly);
assert.match(reader.url(), /#\/search$/u, 'the token stays in the address');
assert.equal(await reader.locator('#mode').textContent(), 'read-only');

await timed('all memories', async () => {
  await reader.locator('.window li').first().waitFor();
  await accessible(reader, 'the list of memories');
  // Only a window of the list is in the page, and the keys go beyond it.
  const total = Number((await reader.locator('#count', { hasText: /memor/u }).textContent()).match(/[\d,]+/u)[0].replaceAll(',', ''));
  assert.ok(total >= 200, `${total} memories`);
  assert.ok((await reader.locator('.window li').count()) < 60, 'the list is not windowed');
  await reader.evaluate(() => { document.querySelector('.window').scrollTop = 1e6; });
  await reader.locator('.window li[aria-posinset="101"]').waitFor();
  await reader.evaluate(() => { document.querySelector('.window').scrollTop = 0; });
  await reader.locator('main').focus();
  for (let times = 0; times < 30; times += 1) await reader.keyboard.press('j');
  await reader.keyboard.press('k');
  assert.equal(await reader.locator('.window li.picked').getAttribute('aria-posinset'), '29');
  assert.equal(await reader.locator('.window li.picked').isVisible(), true);
  await reader.keyboard.press('Enter');
  await reader.waitForURL(/#\/memory\//u);
  await shown(reader);
  await go(reader, '#/search');
});

await timed('search', async () => {
  await reader.locator('#project').selectOption(setup.project);
  await reader.waitForURL(/project=/u);
  await shown(reader);
  await reader.locator('main').focus();
  await reader.keyboard.press('/');
  assert.equal(await reader.evaluate(() => document.activeElement.id), 'query');
  await reader.keyboard.type('otter exporter headers');
  await reader.keyboard.press('Enter');
  await reader.locator('.results li').first().waitFor();
  assert.match(await reader.locator('.results mark').first().textContent(), /otter|export|header/iu);
  await reader.locator('.results summary').first().click();
  assert.match(await reader.locator('.results details[open]').first().textContent(), /BM25 \d/u);
  await accessible(reader, 'search');
  await reader.screenshot({ path: path.join(setup.images, 'viewer-search.png') });
});

await timed('keyboard', async () => {
  await reader.locator('main').focus();
  await reader.keyboard.press('j');
  await reader.keyboard.press('j');
  await reader.keyboard.press('k');
  assert.equal(await reader.locator('.picked').count(), 1);
  assert.equal(await reader.evaluate(() => document.activeElement.closest('.picked') !== null), true);
  await reader.keyboard.press('?');
  await reader.locator('#help[open]').waitFor();
  await accessible(reader, 'the help');
  await reader.keyboard.press('Escape');
  await reader.keyboard.press('Enter');
  await reader.waitForURL(/#\/memory\//u);
  await shown(reader);
});

await timed('memory', async () => {
  await go(reader, `#/memory/${setup.memory}`);
  const text = await reader.locator('main').textContent();
  for (const part of setup.life) assert.ok(text.includes(part), `the memory's page lacks ${part}: ${text}`);
  assert.equal(await reader.getByRole('button', { name: 'Forget…' }).count(), 0, 'a read-only viewer offers to forget');
  await accessible(reader, 'a memory');
});

await timed('the other pages', async () => {
  const scope = `?project=${encodeURIComponent(setup.project)}`;
  for (const [name, hash, wanted] of [
    ['sessions', '#/sessions', 'Sessions'], ['session', `#/session/${setup.session}`, 'What the agent knew'], ['projects', '#/projects', 'shop'],
    ['failures', '#/failures', 'cargo test exporter'], ['notes', `#/notes${scope}`, 'Headers were lost'], ['policies', `#/policies${scope}`, 'extractor'],
    ['redaction', '#/redaction', 'By rule'], ['health', '#/health', 'claude-code: session start'], ['nothing', '#/nothing', 'There is no such page'],
  ]) {
    await go(reader, hash);
    await reader.locator('main', { hasText: wanted }).waitFor();
    await accessible(reader, name);
    await onlyText(reader, name);
  }
  await go(reader, '#/health');
  await reader.locator('#doctor').click();
  await reader.getByText('What doctor found').waitFor({ timeout: 60_000 });
  await go(reader, `#/session/${setup.session}`);
  const at = await reader.locator('output').textContent();
  await reader.locator('#moment').focus();
  await reader.keyboard.press('Home');
  assert.notEqual(await reader.locator('output').textContent(), at);
  assert.match(await reader.locator('output').textContent(), /^step 1 of/u);
  await go(reader, `#/notes${scope}`);
  assert.ok((await reader.locator('svg.graph a').count()) >= 2, 'the graph has no notes');
});

await timed('two hundred payloads', async () => {
  await go(reader, `#/search?project=${encodeURIComponent(setup.hostile)}`);
  await reader.locator('.window li').first().waitFor();
  const total = Number((await reader.locator('#count', { hasText: /memor/u }).textContent()).match(/\d+/u)[0]);
  // And what the session of that project taught.
  assert.ok(total >= setup.payloads, `${total} memories`);
  const seen = new Set();
  // Every row once: the list is scrolled from its beginning to its end.
  for (let top = 0; seen.size < total && top < total * 68; top += 400) {
    await reader.evaluate((to) => { document.querySelector('.window').scrollTop = to; }, top);
    await reader.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));
    await reader.locator('.window li').first().waitFor();
    for (const place of await reader.locator('.window li').evaluateAll((all) => all.map((it) => it.ariaPosInSet))) seen.add(place);
    await onlyText(reader, 'the list of payloads');
  }
  assert.equal(seen.size, total, 'not every payload was shown');
  const ids = await reader.evaluate(async (project) => {
    const all = [];
    let cursor = '';
    do {
      const page = await (await fetch(`/api/memories?limit=200&project=${encodeURIComponent(project)}${cursor && `&cursor=${cursor}`}`)).json();
      all.push(...page.entries.map((it) => it.id));
      cursor = page.next;
    } while (cursor);
    return all;
  }, setup.hostile);
  assert.equal(ids.length, total);
  // Each on its own page, where text, attributes, keywords and files are shown whole.
  for (const id of ids) {
    await go(reader, `#/memory/${id}`);
    await onlyText(reader, id);
  }
  await go(reader, `#/search?q=${encodeURIComponent('payload script')}&project=${encodeURIComponent(setup.hostile)}`);
  await reader.locator('.results li').first().waitFor();
  await onlyText(reader, 'search for payloads');
  for (const hash of [`#/session/${setup.hostileSession}`, '#/sessions', '#/failures', '#/today', `#/search?q=${encodeURIComponent('<img src=x onerror=__ran=1>')}`, `#/memory/${encodeURIComponent('<script>__ran=1</script>')}`]) {
    const before = errors.length;
    await go(reader, hash);
    await onlyText(reader, hash);
    // That there is no such memory is an answer that browsers report.
    if (hash.startsWith('#/memory/')) errors.length = before;
  }
});

await timed('today', async () => {
  await go(reader, '#/today');
  await reader.locator('.dot.on').waitFor();
  await accessible(reader, 'today');
  await reader.evaluate(() => {
    globalThis.arrived = new Map();
    new MutationObserver((changes) => {
      for (const change of changes) for (const node of change.addedNodes) globalThis.arrived.set(node.textContent, Date.now());
    }).observe(document.getElementById('feed'), { childList: true });
  });
  for (const { payload, shows } of setup.live) {
    const { ended } = await hook(payload);
    await reader.locator('#feed li', { hasText: shows }).filter({ hasText: setup.liveSession }).waitFor();
    const at = await reader.evaluate(([text, session]) => [...globalThis.arrived].find(([line]) => line.includes(text) && line.includes(session))[1], [shows, setup.liveSession]);
    measured.live.push(Math.max(0, at - ended));
  }
  assert.ok(Math.max(...measured.live) <= 250, `it took ${measured.live} ms until the page showed what a hook had done`);
  await reader.locator('#feed li.told', { hasText: setup.liveSession }).filter({ hasText: 'told at startup' }).first().waitFor();
  const lines = await reader.locator('#feed li').allTextContents();
  for (const { shows } of setup.live) assert.equal(lines.filter((line) => line.includes(shows) && line.includes(setup.liveSession)).length, 1, `${shows} is there twice`);
});

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

await timed('dark, narrow and on paper', async () => {
  const { context } = { context: reader.context() };
  await reader.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  for (const hash of ['#/search?q=otter', `#/memory/${setup.memory}`, `#/session/${setup.session}`, '#/today', '#/health']) {
    await go(reader, hash);
    await accessible(reader, `${hash} in the dark`);
  }
  await go(reader, `#/session/${setup.session}`);
  await reader.screenshot({ path: path.join(setup.images, 'viewer-session-dark.png') });
  await reader.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await reader.setViewportSize({ width: 360, height: 740 });
  for (const hash of ['#/search?q=otter', '#/search', `#/memory/${setup.memory}`, `#/session/${setup.session}`, '#/today', '#/projects', '#/failures', '#/health', '#/redaction']) {
    await go(reader, hash);
    const wide = await reader.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(wide <= 0, `${hash} is ${wide} pixels too wide for a narrow window`);
    await accessible(reader, `${hash} in a narrow window`);
  }
  await reader.setViewportSize({ width: 1200, height: 800 });
  await go(reader, '#/search?q=otter');
  await reader.emulateMedia({ media: 'print' });
  assert.equal(await reader.locator('nav').isVisible(), false, 'the navigation is printed');
  assert.equal(await reader.locator('.results li').first().isVisible(), true);
  await reader.emulateMedia({ media: 'screen' });
  // Korean breaks between words; Japanese is set as Japanese.
  await go(reader, `#/memory/${setup.korean}`);
  assert.equal(await reader.locator('pre bdi').evaluate((it) => `${it.lang} ${getComputedStyle(it).wordBreak}`), 'ko keep-all');
  await go(reader, `#/memory/${setup.japanese}`);
  assert.equal(await reader.locator('pre bdi').evaluate((it) => `${it.lang} ${getComputedStyle(it).lineBreak}`), 'ja strict');
  assert.ok(context.pages().length === 1);
});

// How soon the first paint is, and when the list is there, of a page that is loaded anew.
await reader.goto(`${new URL(setup.readonly).origin}/#/search`);
await reader.reload();
await reader.locator('.window li').first().waitFor();
measured.paint = await reader.evaluate(() => Math.round(performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1));
measured.list = await reader.evaluate(() => Math.round(performance.now()));

await browser.close();
assert.deepEqual(errors, [], 'errors on the console');
assert.deepEqual(strangers, [], 'requests to elsewhere');
console.log(JSON.stringify(measured));
