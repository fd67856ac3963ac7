// Makes the pictures of docs/images: every page, light and dark. `tests/tests/it/viewer_pictures.rs` prepares a home and starts this.
import assert from 'node:assert/strict';
import path from 'node:path';
import { accessible, finish, go, open, setup, timed } from './driver.mjs';

const scope = `?project=${encodeURIComponent(setup.project)}`;
const page = await open(setup.writable, { viewport: { width: 1200, height: 760 } });

/** The pages: name, address, and what is done before the picture is taken. */
const PAGES = [
  ['memories', `#/search${scope}`, () => page.locator('.window li a').first().waitFor()],
  ['search', `#/search${scope}&q=${encodeURIComponent('time zone of a port')}`, async () => {
    await page.locator('.results li').first().waitFor();
    await page.locator('.results summary').first().click();
  }],
  ['memory', `#/memory/${setup.memory}`],
  ['change', `#/memory/${setup.other}`, async () => {
    await page.getByRole('button', { name: 'Supersede…', exact: true }).click();
    await page.locator('.choices li').first().waitFor();
    await page.locator('.choices input').first().check();
    await page.locator('#confirm').click();
    await page.locator('#would').waitFor();
  }],
  ['today', '#/today', () => page.locator('#feed li').first().waitFor()],
  ['sessions', `#/sessions${scope}`, () => page.locator('.window li a').first().waitFor()],
  ['session', `#/session/${setup.session}`, async () => {
    await page.locator('#moment').focus();
    for (let steps = 0; steps < 3; steps += 1) await page.keyboard.press('ArrowLeft');
    await page.locator('main').focus();
  }],
  ['projects', '#/projects'],
  ['failures', '#/failures', () => page.locator('#failure h2').waitFor()],
  ['notes', `#/notes${scope}`, () => page.locator('svg.graph').waitFor()],
  ['policies', `#/policies${scope}`, async () => {
    await page.locator('#compare').click();
    await page.locator('#sides .columns section').first().waitFor({ timeout: 120_000 });
    await page.locator('#against').scrollIntoViewIfNeeded();
    await page.evaluate(() => document.getElementById('against').closest('form').previousElementSibling.scrollIntoView());
    await page.evaluate(() => window.scrollBy(0, -64));
  }],
  ['redaction', '#/redaction', () => page.locator('svg.plot').waitFor()],
  ['health', '#/health'],
];

/** Fails if the page, or a text in it, is wider than its place. */
async function fits(name) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(wide <= 0, `${name} is ${wide} pixels too wide`);
}

for (const scheme of ['light', 'dark']) {
  await timed(scheme, async () => {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    for (const [name, hash, before] of PAGES) {
      await go(page, '#/search?type=nothing');
      await go(page, hash);
      await before?.();
      if (name !== 'policies') await page.evaluate(() => window.scrollTo(0, 0));
      await fits(name);
      await accessible(page, `${name}, ${scheme}`);
      await page.screenshot({ path: path.join(setup.images, `viewer-${name}${scheme === 'dark' ? '-dark' : ''}.png`) });
    }
  });
}

await finish();
