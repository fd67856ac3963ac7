// Two policies on one session side by side, in a headless Chromium. `tests/tests/it/viewer_policies.rs` starts this.
import assert from 'node:assert/strict';
import { accessible, finish, go, onlyText, open, setup, timed } from './driver.mjs';

const page = await open(setup.readonly);
const at = `#/policies?project=${encodeURIComponent(setup.project)}`;

await timed('two policies', async () => {
  await go(page, at);
  await page.locator('#against').selectOption('all-x');
  await page.locator('#policy').selectOption('all-y');
  await page.locator('#compare').click();
  await page.locator('#sides .columns section').first().waitFor({ timeout: 120_000 });
  const sides = await page.locator('#sides .columns section').evaluateAll((all) => all.map((it) => [it.querySelector('h3').textContent, it.querySelector('.page').textContent]));
  assert.deepEqual(sides, [['all-x', 'x'.repeat(40)], ['all-y', 'y'.repeat(40)]]);
  assert.match(await page.locator('#sides table').textContent(), /context-builder/u);
  assert.equal(await page.locator('#sides .page .only').count(), 2, 'what differs is not marked');
  await accessible(page, 'two policies');
  await onlyText(page, 'two policies');
});

await timed('a policy and the default policy', async () => {
  await page.locator('#against').selectOption('');
  await page.locator('#compare').click();
  await page.locator('#sides h3', { hasText: 'the default policy alone' }).waitFor({ timeout: 120_000 });
  await page.locator('#sides section[aria-label="right: all-y"]').waitFor();
});

await timed('a policy and itself', async () => {
  await page.locator('#against').selectOption('all-y');
  await page.locator('#compare').click();
  await page.locator('#same').waitFor({ timeout: 120_000 });
  await page.setViewportSize({ width: 360, height: 740 });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(wide <= 0, `${wide} pixels too wide`);
  await accessible(page, 'two policies in a narrow window');
});

await finish();
