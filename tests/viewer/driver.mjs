// What every test of the viewer in a browser needs. A test program is started with the path of a JSON file that says where everything
// is, and prints one JSON object: what it measured.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import assert from 'node:assert/strict';
import path from 'node:path';

export const setup = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const require = createRequire(path.join(setup.modules, 'package.json'));
const { chromium } = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

export const measured = { pages: {} };
/** What the browser complained of. */
export const errors = [];
const strangers = [];
const browser = await chromium.launch({ executablePath: setup.chromium, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });

/** Opens the viewer at this address in a browser of its own. */
export async function open(address, options = {}) {
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
export async function shown(page) {
  await page.waitForFunction(() => document.getElementById('main').dataset.shows === location.hash);
}

/** Goes to a page of the viewer. */
export async function go(page, hash) {
  await page.evaluate((to) => { location.hash = to; }, hash);
  await shown(page);
}

/** Fails if axe finds anything that is against WCAG 2.2 AA. */
export async function accessible(page, what) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }));
  const told = found.violations.map((it) => `${it.id}: ${it.help}\n${it.nodes.slice(0, 3).map((node) => `  ${node.html.slice(0, 200)} ${node.failureSummary}`).join('\n')}`);
  assert.deepEqual(told, [], `${what} is not accessible:\n${told.join('\n')}`);
}

/** Fails if stored text has become anything else than text. */
export async function onlyText(page, what) {
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

export async function timed(name, work) {
  const began = Date.now();
  await work();
  measured.pages[name] = Date.now() - began;
}

/** Ends the browser, fails if it complained or asked anybody else, and prints what was measured. */
export async function finish() {
  await browser.close();
  assert.deepEqual(errors, [], 'errors on the console');
  assert.deepEqual(strangers, [], 'requests to elsewhere');
  console.log(JSON.stringify(measured));
}
