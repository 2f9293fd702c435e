// frames.mjs: how long the page keeps the browser, frame by frame, beside a pool of 100,000 machines and a million jobs (large_pool.mjs), from Chromium's
// own trace. As a program it prints a line a view:  node test/frames.mjs [MACHINES JOBS]
// A view with a frame above 8 ms is walked again, twice at most. What is slow by itself is slow each time; then the status is 1. What is so once, beside other programs, is printed only.
import { existsSync, readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { largePool } from './large_pool.mjs';

const SCRIPT = /^(EvaluateScript|v8\.(compile|compileModule|evaluateModule|run|callFunction|newInstance|parseOnBackground)|FunctionCall|RunMicrotasks|TimerFire|FireAnimationFrame|FireIdleCallback|EventDispatch|HandlePostMessage)$/; // what is collected meanwhile is within; the browser's own turns at that are not
const LAYOUT = /^(Layout|UpdateLayoutTree|RecalculateStyles|IntersectionObserverController::computeIntersections)$/;
const FRAME = 16_700; // microseconds

/** Of the events within [from, to) that are of a kind, those that lie in no other of them: how long they took together, by the thread's own clock. */
function took(events, pattern) {
  let sum = 0, end = -1;
  for (const event of events) {
    if (event.ts < end || !pattern.test(event.name)) continue;
    sum += event.tdur ?? event.dur;
    end = event.ts + event.dur;
  }
  return sum;
}

/** The frames of a page's main thread: for each, script and layout, and all that its tasks took, in milliseconds. */
export function framesOf(trace) {
  const { traceEvents } = JSON.parse(trace), mains = new Map();
  for (const event of traceEvents) if (event.name === 'thread_name' && event.args?.name === 'CrRendererMain') mains.set(`${event.pid} ${event.tid}`, []);
  for (const event of traceEvents) if (event.ph === 'X' && event.dur !== undefined) mains.get(`${event.pid} ${event.tid}`)?.push(event);
  const events = [...mains.values()].sort((a, b) => b.length - a.length)[0]?.sort((a, b) => a.ts - b.ts || b.dur - a.dur) ?? [], tasks = [];
  for (const event of events) {
    const last = tasks.at(-1);
    if (last && event.ts < last.end) last.events.push(event);
    else tasks.push({ from: event.ts, end: event.ts + event.dur, all: event.tdur ?? event.dur, events: [event] });
  }
  const frames = [];
  for (const task of tasks) {
    const frame = frames.at(-1), script = took(task.events, SCRIPT), layout = took(task.events, LAYOUT) - task.events.filter((event) => LAYOUT.test(event.name)).reduce((sum, event) => sum + (task.events.some((other) => SCRIPT.test(other.name) && other.ts <= event.ts && other.ts + other.dur >= event.ts + event.dur) ? event.tdur ?? event.dur : 0), 0);
    if (!script && !layout) continue;
    // a frame ends with the task that lays it out, or after as long as a frame lasts
    if (frame && !frame.drawn && task.from - frame.from < FRAME) Object.assign(frame, { script: frame.script + script / 1000, layout: frame.layout + layout / 1000, all: frame.all + task.all / 1000, tasks: [...frame.tasks, task] });
    else frames.push({ from: task.from, script: script / 1000, layout: layout / 1000, all: task.all / 1000, tasks: [task], drawn: false });
    if (task.events.some(({ name }) => /Commit$|^PrePaint$|^Paint$/.test(name))) frames.at(-1).drawn = true;
  }
  return frames;
}

/** What took longest in a frame, in words. */
export function whyOf(frame) {
  const events = frame.tasks.flatMap((task) => task.events).filter((event) => (event.tdur ?? event.dur) > 700);
  return events.map((event) => `${event.name}${event.args?.data?.functionName ? ` ${event.args.data.functionName}` : ''}${event.args?.data?.type ? ` ${event.args.data.type}` : ''}${event.args?.elementCount ? ` ${event.args.elementCount}` : ''} ${((event.tdur ?? event.dur) / 1000).toFixed(1)}`).join(', ');
}

export const tracing = ['-*', 'devtools.timeline', 'disabled-by-default-devtools.timeline', 'disabled-by-default-devtools.timeline.frame', 'toplevel', 'v8.execute', 'v8', 'disabled-by-default-v8.gc', 'blink', '__metadata'];

export async function browserStart() {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find(existsSync), args: process.getuid() === 0 ? ['--no-sandbox'] : [] });
}

/* Playwright's own looks at the page would be in the trace, with the layouts that they force: here the page is only told where to go, and counted. */
const wheel = async (page, turns) => { for (let i = 0; i < turns; i++) { await page.mouse.wheel(0, 700); await page.waitForTimeout(60); } };
const news = (page, turns = 2) => page.waitForTimeout(turns * 1100 * haste);
let haste = 1; // of all that is waited for news; the test waits for little
export const hasten = (part) => { haste = part; };
const go = (page, where) => page.evaluate((to) => { location.hash = to; }, where);
const press = (page, what, words) => page.evaluate(([selector, text]) => [...document.querySelectorAll(selector)].find((one) => one.textContent.includes(text))?.click(), [what, words]);
async function there(page, what, least = 1) {
  for (let i = 0; i < 300; i++) {
    if (await page.evaluate((selector) => document.querySelectorAll(selector).length, what) >= least) return;
    await page.waitForTimeout(100);
  }
  throw new Error(`there are not ${least} of ${what}`);
}

/** What a person does on each view, while news comes. */
export const walk = [
  ['Home', async (page) => {
    await go(page, '#/home');
    await there(page, '.attend li', 8);
    await there(page, '.plot path', 8);
    await press(page, 'button', 'Day');
    await news(page, 3);
  }],
  ['Machines, tiles', async (page) => {
    await go(page, '#/machines');
    await there(page, 'a.tile', 12);
    await wheel(page, 12);
    await news(page, 4); // what is seen is asked anew
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
    await page.waitForTimeout(500);
    await there(page, 'a.tile', 6);
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight / 2));
    await page.waitForTimeout(500);
    await there(page, 'a.tile', 12);
    await page.evaluate(() => scrollTo(0, 0));
    await page.waitForTimeout(500);
  }],
  ['Machines, list', async (page) => {
    await go(page, '#/machines?as=list');
    await there(page, '.tile.line a', 12);
    await wheel(page, 12);
    await news(page, 4);
  }],
  ['Machines, searched', async (page) => {
    await go(page, '#/machines?state=Sick');
    await there(page, 'a.tile', 6);
    await page.evaluate(() => document.querySelector('input[type=search]').focus());
    for (const key of 'node0') { await page.keyboard.press(key); await page.waitForTimeout(60); }
    await news(page);
  }],
  ['One machine', async (page) => {
    await go(page, '#/machines/node000007');
    await there(page, '.plot path');
    await news(page, 4);
  }],
  ['Submissions', async (page) => {
    await go(page, '#/jobs');
    await there(page, '[aria-label=Submissions] tbody tr', 25);
    await news(page);
    await press(page, 'button', 'Choose all here');
    await news(page);
  }],
  ['One submission', async (page) => {
    await go(page, '#/jobs');
    await there(page, '[aria-label=Submissions] tbody tr', 25);
    await press(page, '[aria-label=Submissions] button.open', '');
    await there(page, '[aria-label=Jobs] tbody tr', 25);
    await news(page, 3);
    await press(page, '.opened .pager button', 'Next');
    await news(page, 3);
  }],
  ['Jobs', async (page) => {
    await go(page, '#/jobs?show=jobs');
    await there(page, '[aria-label=Jobs] tbody tr', 25);
    await press(page, 'button.sort', 'Command');
    await news(page, 3);
    await go(page, '#/jobs?show=over');
    await there(page, '[data-name=Ended] time', 25);
    await news(page);
  }],
  ['Workflows', async (page) => {
    await go(page, '#/workflows');
    await there(page, '[aria-label=Workflows] tbody tr', 25);
    await news(page, 3);
  }],
  ['One workflow', async (page, pool) => {
    await go(page, `#/workflow/${pool.desk}/1`);
    await there(page, '.graph .box', 4);
    await news(page, 4);
    await page.evaluate(() => document.querySelector('.graph').scrollTo(400, 2000));
    await page.waitForTimeout(500);
    await page.evaluate(() => document.querySelector('.graph').scrollTo(4000, 100));
    await there(page, '[aria-label=Nodes] tbody tr', 50);
    await news(page, 4);
  }],
  ['Accounting', async (page) => {
    await go(page, '#/usage?by=user&months=yes');
    await there(page, '[aria-label="What was used"] tbody tr', 25);
    await press(page, '.pager button', 'Next');
    await news(page);
  }],
  ['Users', async (page) => {
    await go(page, '#/users');
    await there(page, 'tbody tr', 60);
    await news(page, 4);
  }],
  ['Submit', async (page) => {
    await go(page, '#/submit');
    await there(page, '.editor', 1);
    await press(page, 'button', 'Say hello');
    await news(page);
  }],
  ['Policy', async (page) => {
    await go(page, '#/policy');
    await there(page, '.editor', 1);
    await news(page);
  }],
  ['Playground', async (page) => {
    await go(page, '#/play');
    await there(page, '.editor', 3);
    await news(page);
  }],
  ['Ads', async (page) => {
    await go(page, '#/ads');
    await there(page, '[aria-label=Ads] tbody tr', 50);
    await news(page);
  }],
  ['Matchmaker', async (page) => {
    await go(page, '#/pool');
    await there(page, '.plot path', 2);
    await news(page, 4);
  }],
  ['Changes', async (page) => {
    await go(page, '#/audit');
    await there(page, '[aria-label=Changes] tbody tr', 50);
    await news(page);
  }],
];

export async function pageOpen(browser, pool, first = '#/usage') {
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  page.setDefaultTimeout(30_000);
  await page.addInitScript(() => sessionStorage.setItem('berth.token', 'of the large pool'));
  await page.goto(`${pool.url}/${first}`);
  await page.locator('main tbody tr').first().waitFor();
  await page.mouse.move(640, 500);
  return page;
}

const MOST = 8, WALKS = 3; // milliseconds of script and layout in a frame; walks of a view
const lengthOf = (frame) => frame.script + frame.layout;

/** Milliseconds that other machines on the same hardware have taken from this one: the page's thread looks busy meanwhile. */
function stolen() {
  const words = existsSync('/proc/stat') ? readFileSync('/proc/stat', 'utf8').split('\n')[0].split(/\s+/) : [];
  return Number(words[8] ?? 0) * 10;
}

async function walkTraced(browser, page, pool, act) {
  const before = stolen();
  await browser.startTracing(page, { categories: tracing });
  await act(page, pool);
  const frames = framesOf((await browser.stopTracing()).toString()), longest = frames.reduce((most, frame) => (lengthOf(frame) > lengthOf(most) ? frame : most), frames[0]);
  return { frames, longest, over: frames.filter((frame) => lengthOf(frame) > MOST).sort((a, b) => lengthOf(b) - lengthOf(a)), stolen: stolen() - before };
}

async function main([machines = '100000', jobs = '1000000']) {
  const pool = await largePool({ machines: Number(machines), jobs: Number(jobs), dist: new URL('../dist', import.meta.url).pathname }), browser = await browserStart();
  const only = process.env.PAGE_FRAMES_ONLY, slow = [], all = { frames: 0, over: 0 };
  try {
    const page = await pageOpen(browser, pool);
    console.log(`${machines} machines, ${jobs} jobs, load ${loadavg()[0].toFixed(1)}; milliseconds of the page's thread, by its own clock where the trace has that\nview                 frames  script+layout of the longest  its script  its layout  over ${MOST} ms, and when walked again  stolen`);
    for (const [name, act] of walk) {
      if (only && !name.includes(only)) continue;
      const walks = [];
      do {
        await go(page, '#/nowhere');
        await page.waitForTimeout(500);
        walks.push(await walkTraced(browser, page, pool, act));
      } while (walks.at(-1).over.length && walks.length < WALKS);
      const [{ frames, longest, stolen: taken }] = walks, cells = [[frames.length, 6], [lengthOf(longest).toFixed(1), 29], [longest.script.toFixed(1), 11], [longest.layout.toFixed(1), 11], [walks.map(({ over }) => over.length).join(', '), 32], [taken, 7]];
      console.log(`${name.padEnd(20)} ${cells.map(([cell, wide]) => String(cell).padStart(wide)).join(' ')}`);
      if (process.env.PAGE_FRAMES_WHY) for (const frame of walks.flatMap(({ over }) => over.slice(0, 6))) console.log(`    ${lengthOf(frame).toFixed(1)}: ${whyOf(frame)}`);
      if (walks.at(-1).over.length) slow.push(name);
      all.frames += frames.length;
      all.over += walks[0].over.length;
    }
    console.log(`${all.over} of ${all.frames} frames of the first walks are above ${MOST} ms, load ${loadavg()[0].toFixed(1)}; ${slow.length ? `above it in each of ${WALKS} walks: ${slow.join(', ')}` : `no view has one in each of ${WALKS} walks`}`);
    process.exitCode = slow.length ? 1 : 0;
    await page.context().close();
  } finally {
    await browser.close();
    await pool.close();
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main(process.argv.slice(2));
