// replicas.test.mjs: two matchmakers of one pool over a real PostgreSQL, whose address is in $PAGE_STORE: the page says who leads, and goes where it leads.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';

const berth = process.env.BERTH, store = process.env.PAGE_STORE;
const folder = mkdtempSync(join(tmpdir(), 'berth-page-')), running = [];
const rest = (milliseconds) => new Promise((resolve) => { setTimeout(resolve, milliseconds); });
const freePort = () => new Promise((resolve) => {
  const probe = createServer().listen(0, '127.0.0.1', () => {
    const { port } = probe.address();
    probe.close(() => resolve(port));
  });
});
let browser, token;

/** Starts a matchmaker, and waits until it leads, or else stands by. */
async function matchmaker(name, leads, ...words) {
  const url = `http://127.0.0.1:${await freePort()}`;
  const child = spawn(berth, ['matchmaker', '--listen', url.slice(7), '--state', join(folder, name), ...words], { stdio: 'ignore' });
  const ended = new Promise((resolve) => { child.on('exit', resolve); });
  running.push({ child, ended });
  for (let i = 0; i < 600; i++) {
    const answer = await fetch(`${url}/readyz`).catch(() => null);
    if (answer && (leads ? answer.ok : answer.headers.get('Berth-Leader'))) return { url, child, ended };
    await rest(100);
  }
  throw new Error(`the matchmaker ${name} does not start`);
}

before(async () => {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: process.getuid() === 0 ? ['--no-sandbox'] : [] });
});

after(async () => {
  await browser?.close();
  for (const { child, ended } of running) {
    child.kill('SIGTERM');
    await ended;
  }
  rmSync(folder, { recursive: true, force: true });
});

async function open(url) {
  const context = await browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  await context.addInitScript((kept) => sessionStorage.setItem('berth.token', kept), token);
  await page.goto(`${url}/#/pool`);
  return page;
}
const fact = (page, name, what) => page.locator('dl.facts div', { has: page.locator('dt', { hasText: name }) }).locator('dd', { hasText: what });

test('the page says who leads and who stands by, and since when', async () => {
  const one = await matchmaker('one', true, '--set', `Store=${store}`);
  const run = (...words) => execFileSync(berth, [...words, '--state', join(folder, 'one')], { encoding: 'utf8' });
  run('token', 'create', '--subject', 'ada', '--scope', 'ad:read admin', '--lifetime', '1h', '--no-delegation', '--out', join(folder, 'ada.token'));
  token = /Token = "([^"]+)"/.exec(readFileSync(join(folder, 'ada.token'), 'utf8'))[1];
  const alone = await open(one.url);
  await fact(alone, 'Leads', one.url).waitFor();
  await fact(alone, 'Stands by', 'nobody takes over').waitFor();
  await alone.context().close();

  const two = await matchmaker('two', false, '--standby', run('token', 'code', '--standby').trim());
  for (let i = 0; i < 100 && !JSON.parse(run('status', '--json')).Matchmakers?.some((row) => row.Url === two.url); i++) await rest(100);
  const page = await open(two.url); // which leads to the page of the leader
  await fact(page, 'Leads', one.url).waitFor();
  const stands = await fact(page, 'Stands by', two.url).innerText();
  assert.match(stands, /, since \d{4}-\d\d-\d\d \d\d:\d\d \(\d+s\)$/);
  await page.context().close();

  one.child.kill('SIGTERM');
  await one.ended;
  for (let i = 0; i < 100 && !(await fetch(`${two.url}/readyz`)).ok; i++) await rest(100);
  const next = await open(two.url);
  await fact(next, 'Leads', two.url).waitFor();
  await next.context().close();
});
