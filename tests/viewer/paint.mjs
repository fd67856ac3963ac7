// How soon the viewer paints: each page of the setup is loaded anew several times, and the median and the worst are printed, in
// milliseconds from the start of the navigation.
import { setup, measured, open, shown, finish } from './driver.mjs';

const page = await open(setup.address);
const { origin } = new URL(setup.address);
const at = (times, share) => times.toSorted((a, b) => a - b)[Math.floor((times.length - 1) * share)];

for (const [name, hash] of Object.entries(setup.hashes)) {
  const [paints, complete] = [[], []];
  for (let load = 0; load < setup.loads; load += 1) {
    await page.goto('about:blank');
    await page.goto(`${origin}/${hash}`);
    await shown(page);
    complete.push(await page.evaluate(() => performance.now()));
    paints.push(await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0].startTime));
  }
  measured.pages[name] = {
    paint: Math.round(at(paints, 0.5)), worst_paint: Math.round(at(paints, 1)),
    complete: Math.round(at(complete, 0.5)), worst_complete: Math.round(at(complete, 1)),
  };
}
await finish();
