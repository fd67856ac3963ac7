// Drives every page of a viewer that changes nothing in a headless Chromium. `tests/tests/it/viewer.rs` prepares a home and starts this.
import { spawn } from 'node:child_process';
import assert from 'node:assert/strict';
import { accessible, errors, finish, go, measured, onlyText, open, setup, shown, timed } from './driver.mjs';

measured.live = [];

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
  await reader.locator(`.window li[aria-posinset="${total}"] a`).waitFor();
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

await timed('a million rows', async () => {
  // The server's side of it is measured elsewhere. Here the answers are made up, so that the page has a million of them.
  const MILLION = 1_000_000;
  const row = (at) => ({ id: String(at).padStart(12, '0'), type: 'learning', title: `Memory number ${at}`, line: '', project: '/x', at: 1_700_000_000_000 - at });
  let asked = 0;
  // This stays, since a request that was begun here may still be under way when the page is left.
  await reader.route(/\/api\/memories\?.*types=learning/u, async (route) => {
    asked += 1;
    const query = new URL(route.request().url()).searchParams;
    const [at, limit] = [query.has('at') ? Number(query.get('at')) + 100 : 0, Number(query.get('limit'))];
    const entries = Array.from({ length: Math.max(0, Math.min(limit, MILLION - at)) }, (_, index) => row(at + index));
    await route.fulfill({ json: query.has('at') ? { entries, total: MILLION - 100 } : { entries, next: 'x' } });
  });
  await go(reader, '#/search?type=learning');
  await reader.locator('#count', { hasText: '1,000,000 memories' }).waitFor();
  const first = () => reader.evaluate(() => {
    const box = document.querySelector('.window').getBoundingClientRect();
    const row = [...document.querySelectorAll('.window li')].find((it) => it.getBoundingClientRect().bottom > box.top + 1);
    return Number(row.ariaPosInSet) - 1 + (box.top - row.getBoundingClientRect().top) / 68;
  });
  // The scrollbar leads anywhere at once.
  await reader.evaluate(() => { const it = document.querySelector('.window'); it.scrollTop = it.scrollHeight / 2; });
  // The rows follow a frame later.
  await reader.waitForFunction(() => {
    const box = document.querySelector('.window').getBoundingClientRect();
    const seen = [...document.querySelectorAll('.window li')].filter((it) => it.getBoundingClientRect().bottom > box.top + 1);
    return seen.length > 0 && Number(seen[0].ariaPosInSet) > 1000 && !document.querySelector('.window .waiting');
  });
  const middle = await first();
  assert.ok(Math.abs(middle - MILLION / 2) < 1000, `the middle is row ${middle}`);
  await reader.locator('.window li a', { hasText: `Memory number ${Math.ceil(middle)}` }).first().waitFor();
  // A wheel moves by rows, and the rows do not jump when the scrollbar follows.
  await reader.locator('.window').hover();
  for (let turns = 0; turns < 10; turns += 1) await reader.mouse.wheel(0, 68);
  await reader.waitForFunction((from) => Number(document.querySelector('.window li')?.ariaPosInSet) > from, Math.floor(middle) - 8 + 5);
  await new Promise((done) => { setTimeout(done, 400); });
  assert.ok(Math.abs((await first()) - middle - 10) < 0.1, `ten rows by the wheel led from ${middle} to ${await first()}`);
  await reader.locator('.window').focus();
  await reader.keyboard.press('End');
  await reader.locator(`.window li[aria-posinset="${MILLION}"] a`).waitFor();
  const bottom = await reader.evaluate(() => document.querySelector('.window').getBoundingClientRect().bottom - [...document.querySelectorAll('.window li')].at(-1).getBoundingClientRect().bottom);
  assert.ok(Math.abs(bottom) < 3, `the last row ends ${bottom} pixels above the end`);
  assert.ok((await reader.locator('.window li').count()) < 60, 'the list is not windowed');
  // How long each frame takes while it is scrolled without a pause, through pages that are not there yet.
  await reader.keyboard.press('Home');
  measured.frames = await reader.evaluate(async () => {
    const it = document.querySelector('.window');
    const times = [];
    let last = performance.now();
    for (let frame = 0; frame < 200; frame += 1) {
      it.scrollTop += 120;
      const now = await new Promise((done) => { requestAnimationFrame(done); });
      times.push(now - last);
      last = now;
    }
    times.sort((a, b) => a - b);
    return { median: Math.round(times[100]), p95: Math.round(times[190]), most: Math.round(times[199]) };
  });
  assert.ok(asked < 400, `${asked} requests`);
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

await timed('what has the focus is in view', async () => {
  await reader.setViewportSize({ width: 1200, height: 420 });
  await go(reader, `#/memory/${setup.memory}`);
  // Links of the page, one below the other, from the last to the first.
  await reader.evaluate(() => {
    window.scrollTo(0, document.documentElement.scrollHeight);
    [...document.querySelectorAll('main a, main button, main summary, main [tabindex="0"]')].at(-1).focus();
  });
  let [moved, seen] = [0, 0];
  for (let steps = 0; steps < 60; steps += 1) {
    const before = await reader.evaluate(() => window.scrollY);
    await reader.keyboard.press('Shift+Tab');
    const at = await reader.evaluate(() => {
      const [bar, it] = [document.querySelector('.top').getBoundingClientRect(), document.activeElement];
      const own = it.getBoundingClientRect();
      return { inMain: it.closest('main') !== null && it.id !== 'main', top: own.top, bar: bar.bottom, y: window.scrollY, tall: own.height > 200, html: it.outerHTML.slice(0, 100) };
    });
    if (!at.inMain) break;
    seen += 1;
    if (at.y < before) moved += 1;
    if (!at.tall) assert.ok(at.top >= at.bar, `${at.html} begins at ${at.top}, behind the bar, which ends at ${at.bar}`);
  }
  assert.ok(seen > 2 && moved > 0, `${seen} elements had the focus, and the page was scrolled for ${moved}`);
  await reader.setViewportSize({ width: 1200, height: 800 });
});

await timed('the other pages', async () => {
  const scope = `?project=${encodeURIComponent(setup.project)}`;
  for (const [name, hash, wanted] of [
    ['sessions', '#/sessions', 'Sessions'], ['session', `#/session/${setup.session}`, 'What the agent knew'], ['projects', '#/projects', 'shop'],
    ['failures', '#/failures', 'cargo test exporter'], ['notes', `#/notes${scope}`, 'Headers were lost'], ['policies', `#/policies${scope}`, 'extractor'],
    ['spending', '#/spending', 'Tokens by policy'], ['spending of another project', `#/spending?project=${encodeURIComponent(setup.hostile)}`, 'throughline policy add --grant'],
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
  await go(reader, '#/redaction');
  const rules = await reader.locator('#rule option').evaluateAll((all) => all.map((it) => it.value));
  assert.ok(rules.length > 2, `${rules}`);
  const [, one] = rules;
  const plotted = async () => [await reader.locator('svg.plot').getAttribute('aria-label'), await reader.locator('svg.plot rect.bar title').allTextContents()];
  const whole = await plotted();
  assert.match(whole[0], /^Placeholders by day/u);
  await reader.locator('#rule').selectOption(one);
  const part = await plotted();
  assert.match(part[0], new RegExp(`^Placeholders of ${one} by day`, 'u'));
  const sum = (texts) => texts.reduce((so, text) => so + Number(text.split(': ').at(-1)), 0);
  assert.ok(sum(part[1]) > 0 && sum(part[1]) < sum(whole[1]), `${part[1]} of ${whole[1]}`);
  await accessible(reader, 'one rule');
  await go(reader, `#/spending?project=${encodeURIComponent(setup.spent.project)}`);
  assert.equal(await reader.locator('#of').count(), 0, 'a project is chosen twice');
  await go(reader, '#/spending');
  const spent = async () => [await reader.locator('svg.plot').getAttribute('aria-label'), await reader.locator('svg.plot rect.bar title').allTextContents()];
  const number = (text) => Number(text.replaceAll(/[,$]/gu, ''));
  const [[byTokens, tokens], { calls, tokens: wanted, dollars }] = [await spent(), setup.spent];
  assert.match(byTokens, /^Tokens by day/u);
  assert.equal(tokens.length, 1);
  assert.equal(number(tokens[0].split(': ').at(-1)), wanted);
  await reader.locator('main', { hasText: calls === 1 ? '1 call,' : `${calls} calls,` }).waitFor();
  await reader.locator('#unit').selectOption('money');
  const [byMoney, money] = await spent();
  assert.match(byMoney, /^US dollars by day/u);
  assert.equal(money[0].split(': ').at(-1), dollars);
  await reader.locator('#policy').selectOption('model-summaries');
  await reader.locator('#of').selectOption(setup.spent.project);
  await reader.locator('main details summary').first().click();
  assert.match(await reader.locator('main details table').textContent(), /model-summaries/u);
  await accessible(reader, 'spending in dollars, with its table');
  await onlyText(reader, 'spending');
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
    await reader.waitForFunction(() => document.querySelector('.window li') && !document.querySelector('.window .waiting'));
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
  // Notes: the list, the graph and its table. Projects: a folder can have a hostile name too.
  await go(reader, `#/notes?project=${encodeURIComponent(setup.hostile)}`);
  assert.ok((await reader.locator('svg.graph a').count()) >= setup.hostileNotes, 'the graph lacks hostile notes');
  assert.ok((await reader.locator('.results li').count()) >= setup.hostileNotes, 'the list lacks hostile notes');
  await reader.locator('main details summary').first().click();
  await onlyText(reader, 'hostile notes');
  assert.ok((await reader.locator('main table').textContent()).includes('<script>__ran=1</script>'), 'the table of relations lacks a hostile title');
  await go(reader, '#/projects');
  assert.ok((await reader.locator('main').textContent()).includes('<img src=x onerror=__ran=1>'), 'the hostile project is missing');
  await onlyText(reader, 'projects');
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
  await reader.locator('#feed li.failed', { hasText: 'ferret link' }).filter({ hasText: setup.liveSession }).waitFor();
  // A new line moves only for those who want motion.
  const motion = () => reader.locator('#feed li.fresh').first().evaluate((it) => getComputedStyle(it).animationName);
  assert.equal(await motion(), 'none');
  await reader.emulateMedia({ reducedMotion: 'no-preference' });
  assert.equal(await motion(), 'arrive');
  await reader.emulateMedia({ reducedMotion: 'reduce' });
  await reader.locator('#feed li.told', { hasText: setup.liveSession }).filter({ hasText: 'told at startup' }).first().waitFor();
  const lines = await reader.locator('#feed li').allTextContents();
  for (const { shows } of setup.live) assert.equal(lines.filter((line) => line.includes(shows) && line.includes(setup.liveSession)).length, 1, `${shows} is there twice`);
});

await timed('dark, narrow and on paper', async () => {
  const { context } = { context: reader.context() };
  await reader.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  for (const hash of ['#/search?q=otter', `#/memory/${setup.memory}`, `#/session/${setup.session}`, '#/today', '#/spending', '#/health']) {
    await go(reader, hash);
    await accessible(reader, `${hash} in the dark`);
  }
  await reader.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await reader.setViewportSize({ width: 360, height: 740 });
  for (const hash of ['#/search?q=otter', '#/search', `#/memory/${setup.memory}`, `#/session/${setup.session}`, '#/today', '#/projects', '#/failures', '#/health', '#/redaction', '#/spending', '#/sessions', `#/notes?project=${encodeURIComponent(setup.project)}`]) {
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

await finish();
