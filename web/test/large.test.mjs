// large.test.mjs: beside many machines and jobs (large_pool.mjs) the page asks for little, draws what is in the window, and gives no frame too much to do. What is
// counted does not depend on how busy the machine is that runs the test; times are measured by frames.mjs.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { browserStart, hasten, pageOpen, walk } from './frames.mjs';
import { largePool } from './large_pool.mjs';

const dist = new URL('../dist', import.meta.url).pathname;
const FRAME_MOST = 450, ALL_MOST = 4000; // elements that are new in a frame, a view's frame around them among them; and that a view has
let pool, browser;

before(async () => {
  hasten(0.3);
  pool = await largePool({ machines: 20_000, jobs: 100_000, nodes: 3000, dist });
  browser = await browserStart();
});

after(async () => {
  await browser?.close();
  await pool?.close();
});

/** Counts what is new in each frame. */
function counting() {
  window.drawn = { most: 0, frame: -1, now: 0 };
  new MutationObserver((records) => {
    const frame = document.timeline.currentTime, { drawn } = window;
    if (drawn.frame !== frame) Object.assign(drawn, { frame, now: 0 });
    for (const { addedNodes } of records) for (const node of addedNodes) if (node instanceof Element) drawn.now += 1 + node.getElementsByTagName('*').length;
    drawn.most = Math.max(drawn.most, drawn.now);
  }).observe(document, { childList: true, subtree: true });
}

test('no view draws much at once, or much in all', async () => {
  const page = await pageOpen(browser, pool), found = [];
  const faults = [];
  page.on('pageerror', (error) => faults.push(error.message));
  await page.evaluate(counting);
  for (const [name, act] of walk) {
    await page.evaluate(() => { window.drawn.most = 0; });
    await act(page, pool);
    const { most, all } = await page.evaluate(() => ({ most: window.drawn.most, all: document.getElementsByTagName('*').length }));
    console.log(`# ${name}: at most ${most} elements new in a frame, ${all} in all`);
    if (most > FRAME_MOST || all > ALL_MOST) found.push(`${name}: ${most} new in a frame, ${all} in all`);
  }
  assert.deepEqual(found, []);
  assert.deepEqual(faults, []);
  await page.context().close();
});

test('the end of a long list is asked for, and not all that is before it', async () => {
  const page = await pageOpen(browser, pool);
  await page.goto(`${pool.url}/#/machines?as=list`);
  await page.getByText('node000000').waitFor();
  const before = pool.asked['/v1/machines'];
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  await page.getByText('node019999').waitFor();
  assert.ok(pool.asked['/v1/machines'] - before < 20, `${pool.asked['/v1/machines'] - before} questions`);
  await page.context().close();
});

test('the address says of how much more of a list is shown', async () => {
  const page = await pageOpen(browser, pool), items = page.locator('.attend li');
  await page.goto(`${pool.url}/#/home`);
  await items.nth(29).waitFor();
  await page.getByRole('button', { name: /^Show more of/ }).click();
  await page.waitForURL(/more=60/);
  await items.nth(59).waitFor();
  await page.reload();
  await items.nth(59).waitFor();
  await page.getByRole('button', { name: 'Day' }).click(); // another question to the same view
  await page.waitForURL(/more=60.*span=day|span=day.*more=60/);
  assert.equal(await items.count(), 60);
  await page.goto(`${pool.url}/#/pool`);
  await page.getByRole('button', { name: 'Month' }).click();
  await page.waitForURL(/pool.span=month/);
  await page.reload();
  await page.locator('button[aria-pressed=true]').filter({ hasText: 'Month' }).waitFor();
  await page.goto(`${pool.url}/#/audit`);
  await page.getByRole('button', { name: 'Show older ones' }).click();
  await page.waitForURL(/more=200/);
  await page.reload();
  for (const number of [2, 3, 4]) { // of 50 rows each
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText(`Page ${number}`).waitFor();
  }
  await page.goBack();
  await page.getByText('Page 2').waitFor(); // there are no more now
  await page.context().close();
});
