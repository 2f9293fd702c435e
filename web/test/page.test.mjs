// page.test.mjs: what a person can do on the page, in a real browser, against a real pool.
import assert from 'node:assert/strict';
import http from 'node:http';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { chromium } from 'playwright-core';
import { issuerStart } from './issuer.mjs';
import { poolStart } from './pool.mjs';
import { evil, put, seed } from './seed.mjs';
import { serve } from './server.mjs';

const here = new URL('.', import.meta.url).pathname, dist = join(here, '..', 'dist');
const shots = process.env.PAGE_SHOTS; // the folder for pictures
const axe = readFileSync(new URL('./node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
const wide = { width: 1280, height: 800 }, narrow = { width: 390, height: 800 };
let pool, server, browser, issuer;
const codes = {}, faults = [];

before(async () => {
  if (shots) mkdirSync(shots, { recursive: true });
  issuer = await issuerStart();
  pool = await poolStart({ BERTH_ISSUERS: issuer.setting });
  await seed(pool.url, pool.admin);
  server = await serve({ pool: pool.url, socket: pool.socket, dist, codes });
  console.log(`# the page is served by ${server.own ? 'the test’s own server' : 'the matchmaker'}`);
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: process.getuid() === 0 ? ['--no-sandbox'] : [] });
});

after(async () => {
  await browser?.close();
  await server?.close();
  await pool?.stop();
  await issuer?.stop();
});

async function open(hash, { token = pool.admin, viewport = wide, colorScheme = 'light' } = {}) {
  const context = await browser.newContext({ viewport, colorScheme });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  page.on('console', (line) => line.type() === 'error' && !/Failed to load resource/.test(line.text()) && faults.push(`${page.url()}: ${line.text()} ${line.location().url}`)); // of answers that are refused the browser writes that they were
  page.on('pageerror', (error) => faults.push(`${hash}: ${error.message}`));
  if (token) await context.addInitScript((kept) => sessionStorage.setItem('berth.token', kept), token);
  await page.goto(`${server.url}/${hash}`);
  return page;
}
const shot = (page, name, fullPage = true) => shots && page.screenshot({ path: join(shots, `${name}.png`), fullPage });
const close = (page) => page.context().close();
const editor = (page, label) => page.locator(`.editor[data-label="${label}"] .cm-content`);
const text = async (page, what) => (await page.locator(what).innerText()).replace(/\s+/g, ' ');
async function write(page, label, value) {
  await editor(page, label).click();
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Delete'); // text over many lines at once would be put together by the browser, with styles of its own
  await page.keyboard.insertText(value);
}
/** All rows of that table are drawn. */
const whole = (page, label) => page.locator(`[role=region][aria-label="${label}"][aria-busy=false]`).waitFor();
const stands = (id, state, name, more) => `[Message="stands";Id="${id}";Version="0000000000000001";Base="0000000000000001";State="000000000000000${state}";Since=720000000;${more};Pulls=false;Gone=false;`
  + `Ad=[Type="Machine";Name="${name}";Cpus=4;Memory=8589934592;Disk=1099511627776;GpuCount=1;LoadAvg=3.9;KeyboardIdle=5;Lifetime=600;Constraint=other.Type=="Job"]]`;
const small = 'RequestMemory = 16M; RequestDisk = 8M; Constraint = other.Memory > 0; Outputs = {}';
const ask = (path, init = {}) => fetch(pool.url + path, { ...init, headers: { Authorization: `Bearer ${pool.admin}`, Accept: 'application/json', ...init.headers } });

test('one signs in with a token, and a bad one leads back with the reason', async () => {
  const page = await open('', { token: null });
  await page.getByLabel('Token').fill('v4.public.nonsense');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').filter({ hasText: 'refused' }).waitFor();
  await shot(page, 'sign-in');
  await page.getByLabel('Token').fill(`  Token = "${pool.admin}";`);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Home', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Token').waitFor();
  await close(page);
});

test('the one-time link signs in once, and leaves the address', async () => {
  codes.once = pool.admin;
  const made = await ask('/v1/links', { method: 'POST' });
  const link = made.ok ? (await made.json()).Link.replace(/^.*#/, '#') : '#k=once';
  const page = await open(link, { token: null });
  await page.getByRole('heading', { name: 'Home', exact: true }).waitFor();
  assert.ok(!page.url().includes('k='), page.url());
  await page.locator('.who').filter({ hasText: 'ada' }).waitFor();
  const odd = await open('#k=%E0%A4%A', { token: null });
  await odd.getByRole('alert').filter({ hasText: 'link is not good' }).waitFor();
  await odd.getByLabel('Token').waitFor();
  await shot(odd, 'sign-in-odd-link');
  await close(odd);
  const again = await open(link, { token: null });
  await again.getByRole('alert').filter({ hasText: 'link is not good' }).waitFor();
  await close(page);
  await close(again);
});

test('one signs in by an institute, with the rights of who that says one is', async (t) => {
  if (server.own) return t.skip('the pool serves no page to come back to');
  const page = await open('', { token: null });
  await page.getByRole('link', { name: 'Sign in by the institute' }).waitFor();
  await shot(page, 'sign-in-institute');
  await page.getByRole('link', { name: 'Sign in by the institute' }).click();
  await page.getByRole('heading', { name: 'Home', exact: true }).waitFor();
  await page.locator('.who').filter({ hasText: 'idp:alice' }).waitFor();
  assert.ok(page.url().startsWith(pool.url) && !/[?#&](k|code|state)=/.test(page.url()), page.url());
  const token = await page.evaluate(() => sessionStorage.getItem('berth.token'));
  assert.equal((await ask('/v1/whoami', { headers: { Authorization: `Bearer ${token}` } })).status, 200);
  assert.equal((await ask('/v1/tokens', { headers: { Authorization: `Bearer ${token}` } })).status, 403);
  assert.deepEqual(await page.context().cookies(), []);
  await close(page);
});

test('a sign-in that does not go well is told in plain words', async (t) => {
  if (server.own) return t.skip('the pool serves no page to come back to');
  const page = await open('', { token: null });
  issuer.refuse(true);
  await page.getByRole('link', { name: 'Sign in by the institute' }).click();
  await page.getByRole('alert').filter({ hasText: 'the sign-in was refused there' }).waitFor();
  issuer.refuse(false);
  assert.ok(!page.url().includes('signin'), page.url());
  await page.goto(`${pool.url}/v1/signin/callback?state=x&code=y`);
  await page.getByRole('alert').filter({ hasText: 'was not begun in this browser' }).waitFor();
  await page.goto(`${pool.url}/#signin=<b>you-won`);
  await page.reload();
  await page.getByLabel('Token').waitFor();
  assert.ok(!(await page.content()).includes('you-won'));
  await close(page);
});

test('home shows four numbers, who runs and waits over time, and what needs somebody, with the button that mends it', async () => {
  const [desk] = await (await ask('/v1/desks', { headers: { Authorization: `Bearer ${pool.owner}` } })).json();
  const told = (path, init) => ask(`/v1/desk/${desk.Agent}/${path}`, { method: 'POST', ...init, headers: { Authorization: `Bearer ${pool.owner}`, 'Content-Type': 'application/classad', ...init.headers } });
  const [{ First: failed }] = await (await told('jobs?key=home1', { body: `[ Cmd = "false"; ${small} ]` })).json();
  const [{ First: held }] = await (await told('jobs?key=home2', { body: '[ Cmd = "sleep"; Args = { "7" }; Constraint = other.Cpus > 4000 ]' })).json();
  await told('control', { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ Verb: 'hold', Ids: String(held), Why: 'the input is wrong' }) });
  await ask('/v1/ads', { method: 'POST', headers: { 'Content-Type': 'application/classad' }, body: stands('00000000000000a3', 5, 'crane', 'Until=-1;Sure=true;Told=[Used=[Cpus=0];Words="the disk of work is full"]') });
  await ask('/v1/ads', { method: 'POST', headers: { 'Content-Type': 'application/classad' }, body: stands('00000000000000a5', 2, 'gull', 'Until=-1;Sure=true;Told=[Used=[Cpus=0]]').replace('Lifetime=600', 'Lifetime=5') });
  const page = await open('#/home', { token: pool.owner });
  const figure = (name) => page.locator('.figure').filter({ hasText: name });
  await figure('Processors in use').getByText(/\d of \d/).waitFor();
  await figure('Failed today').locator('dd').filter({ hasText: /^[1-9]/ }).waitFor({ timeout: 30_000 });
  assert.match(await text(page, 'main'), /Running \d.*Waiting [\d,]+ jobs in \d+ requests/);
  const item = (words) => page.locator('.attend li').filter({ hasText: words });
  await item('crane cannot run jobs now: the disk of work is full').getByRole('link', { name: 'Look' }).waitFor();
  await item('no machine satisfies').first().waitFor();
  assert.equal(await page.locator('.attend .tag.bad').first().innerText(), 'sick'); // faults come first
  assert.equal(await item('for a free machine').count(), 0); // an orderly queue is not among them
  assert.equal(await item('can never be true: other.RamSize < 1000 && other.RamSize > 1200').locator('.tag.bad').innerText(), 'never');
  await page.locator('.legend').getByText('ada waiting').waitFor({ timeout: 20_000 });
  await page.locator('.plot path.area').first().waitFor({ state: 'attached' });
  await page.locator('.plot').focus();
  await page.keyboard.press('ArrowLeft');
  await page.locator('.chart .said').filter({ hasText: /\d\d:\d\d.*: / }).waitFor();
  const away = item('gull is away: not heard of for');
  await away.getByText('systemctl restart berth-provider').waitFor({ timeout: 60_000 });
  await shot(page, 'home');
  await away.getByRole('button', { name: 'Forget' }).click();
  await away.waitFor({ state: 'detached' });
  await item('is held: the input is wrong').getByRole('button', { name: 'Release' }).click();
  await item('is held: the input is wrong').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Day' }).click();
  await page.waitForURL(/span=day/);
  await page.goBack();
  await page.locator('button[aria-pressed=true]').filter({ hasText: 'Hour' }).waitFor();
  await figure('Failed today').getByRole('link').click();
  await page.getByRole('region', { name: 'Jobs' }).getByRole('link', { name: String(failed), exact: true }).waitFor();
  assert.match(page.url(), /state=failed/);
  await told('control', { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ Verb: 'remove', Ids: String(held) }) });
  await close(page);
});

test('the tables of the matchmaker are for experts, and each outcome leads to its requests', async () => {
  const page = await open('#/home');
  await page.getByRole('link', { name: 'Machines' }).waitFor();
  assert.equal(await page.getByRole('link', { name: 'Agents' }).count(), 0);
  await page.getByRole('button', { name: /For experts/ }).click();
  await page.getByRole('link', { name: 'Matchmaker' }).click();
  await page.locator('.figure').filter({ hasText: 'Offers free' }).waitFor();
  await page.getByRole('region', { name: 'Offers by kind' }).getByText('License').waitFor();
  await page.locator('.link.live').waitFor();
  await page.waitForFunction(() => document.querySelectorAll('.plot').length === 2);
  await page.getByRole('link', { name: 'matched' }).waitFor(); // the last row
  assert.match(await text(page, 'main'), /nobody fits.*held by a limit or quota.*gave up.*not tried yet.*matched/);
  await page.getByText('Up since').waitFor();
  await page.getByRole('region', { name: 'Some users' }).getByRole('link', { name: 'ada' }).waitFor();
  await shot(page, 'pool');
  await page.getByRole('link', { name: 'nobody fits' }).click();
  await page.getByRole('region', { name: 'Ads' }).getByRole('link', { name: 'misspelt' }).waitFor();
  assert.match(page.url(), /outcome=nobody/);
  if (/"outcome"/.test(await (await ask('/openapi.json')).text())) assert.equal(await page.getByRole('region', { name: 'Ads' }).getByRole('link', { name: 'fine' }).count(), 0);
  await close(page);
});

test('machines are tiles or a list, found by state, name or expression, and one tells everything of itself', async () => {
  const told = await ask('/v1/ads', { method: 'POST', headers: { 'Content-Type': 'application/classad' }, body: [
    stands('00000000000000a1', 2, 'kite', 'Until=-1;Sure=true;Told=[Used=[Cpus=4;Memory=6442450944;GpuCount=1];Claims={[Claim="00000000000000c1";Job=7;Ends=720;Cpus=3],[Claim="00000000000000c2";Job=8]}]'),
    stands('00000000000000a2', 3, 'owl', 'Until=7200000000;Sure=true;Told=[Used=[Cpus=0];Words="no counterpart can satisfy dayTime() >= \'20:00:00\'"]'),
    stands('00000000000000a4', 5, 'heron', 'Until=-1;Sure=true;Told=[Used=[Cpus=0];Words="the disk of work is full"]'),
  ].join('\n') });
  assert.equal((await told.text()).match(/"ok"/g)?.length, 3);
  const page = await open('#/machines'), machines = page.getByLabel('Machines', { exact: true });
  const tile = (name) => machines.locator('a.tile').filter({ hasText: name });
  const search = async (words, name) => {
    await page.getByLabel('Search machines').fill(words);
    await tile(name).waitFor();
    await page.waitForFunction(() => document.querySelectorAll('a.tile').length === 1);
    return (await tile(name).innerText()).replace(/\s+/g, ' ');
  };
  await machines.locator('a.tile').nth(8).waitFor();
  await page.locator('.figure').filter({ hasText: /\d Busy, 1 Owner, [12] Sick/ }).waitFor();
  await shot(page, 'machines');
  assert.match(await search('OwL', 'owl'), /owl Owner processors 0 of 4.*until \d\d:\d\d/);
  assert.match(await search('Cpus == 4 && CpusUsed == 4', 'kite'), /kite Busy processors 4 of 4, load 3\.9 memory 6 GiB of 8 GiB GPUs 1 of 1 first ends in 12 min/);
  assert.equal(await tile('kite').locator('.cells').getAttribute('data-used'), '4');
  assert.ok(await tile('kite').locator('.cells path:not(.free)').count() > 0);
  assert.match(page.url(), /search=Cpus/);
  await page.goto(`${server.url}/#/machines?state=Sick&as=list`);
  await page.getByRole('table', { name: 'Machines' }).getByRole('row').filter({ hasText: 'heron' }).getByText('the disk of work is full').waitFor();
  await page.getByRole('button', { name: 'Tiles' }).click();
  await tile('heron').click();
  await page.getByRole('heading', { name: 'heron' }).waitFor();
  await page.goBack();
  await tile('heron').waitFor(); // as it was left
  await page.goto(`${server.url}/#/machines/kite`);
  await page.getByRole('region', { name: 'Jobs there' }).getByText(/^1[12]m\d\ds$/).waitFor();
  assert.match(await text(page, 'main'), /what is left of it accepts nobody.*lets jobs in, at any time.*3 processors.*Constraint = other\.Type == "Job"/);
  await shot(page, 'machine');
  await page.goto(`${server.url}/#/machines/owl`);
  await page.getByText(/lets nobody in until \d\d:\d\d/).waitFor();
  await page.goto(`${server.url}/#/machines/nobody`);
  await page.getByRole('alert').filter({ hasText: 'no machine of that name is known' }).waitFor();
  await close(page);
  const other = await open('#/machines/kite', { token: pool.reader });
  await other.getByText('Of jobs of others you see whose they are and what they have.').waitFor();
  assert.equal(await other.getByRole('button', { name: 'Drain' }).count(), 0);
  await other.getByRole('region', { name: 'Jobs there' }).waitFor();
  assert.ok(!/KeyboardIdle/.test(await text(other, 'main'))); // whether somebody sits there is for its owner and administrators
  assert.deepEqual(await other.getByRole('region', { name: 'Jobs there' }).getByRole('columnheader').allInnerTexts(), ['Owner', 'Has']);
  await close(other);
});

test('an administrator drains a machine and lets it take jobs again', async () => {
  const [vm] = (await (await ask(`/v1/machines?constraint=${encodeURIComponent('Agent isnt undefined && Disk isnt undefined && Load isnt 7')}`)).json()).filter((one) => /^machine\//.test(one.Owner ?? ''));
  const page = await open(`#/machines/${vm.Name}`);
  await page.getByRole('button', { name: 'Drain' }).click();
  await page.getByText('It takes no more jobs.').waitFor();
  await page.locator('.plot path').first().waitFor(); // the job that failed was there
  await page.locator('.plot').press('ArrowLeft');
  await page.locator('.said').filter({ hasText: new RegExp(`^${userInfo().username}: from \\d\\d:\\d\\d, .*released`) }).waitFor(); // whose it was, though it is over
  await shot(page, 'machine-day');
  await page.getByRole('heading', { level: 1 }).getByText('Drained').waitFor({ timeout: 20_000 });
  await page.goto(`${server.url}/#/home`);
  await page.locator('.attend li').filter({ hasText: `${vm.Name} was told to take no more jobs` }).getByRole('button', { name: 'Resume' }).click();
  await page.locator('.attend li').filter({ hasText: `${vm.Name} was told to take no more jobs` }).waitFor({ state: 'detached', timeout: 20_000 });
  const sick = page.locator('.attend li').filter({ hasText: 'heron cannot run jobs now: the disk of work is full' });
  await sick.getByRole('button', { name: 'Drain' }).waitFor(); // what there is to be done about it
  await sick.getByRole('link', { name: 'Look' }).waitFor();
  await close(page);
});

test('a match is seen as it happens, without asking anew', async () => {
  const page = await open('#/pool');
  await page.locator('.link.live').waitFor();
  await put(pool.url, pool.admin, 'lone', '[ Name = "lone"; Type = "Lone"; Lifetime = 600 ]');
  await put(pool.url, pool.admin, 'seeker', '[ Name = "seeker"; Type = "Job"; Lifetime = 600; Constraint = other.Type == "Lone" ]');
  await page.getByRole('region', { name: 'Matches' }).getByRole('link', { name: 'seeker' }).waitFor();
  await shot(page, 'pool-match');
  await close(page);
});

test('ads are found by a constraint: names are completed, errors underlined, results come a page at a time', async () => {
  const page = await open('#/ads?kind=offers');
  await page.getByRole('region', { name: 'Ads' }).waitFor();
  await page.locator('tbody tr').nth(49).waitFor(); // a few come with each frame
  assert.equal(await page.locator('tbody tr').count(), 50);
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('Page 2').waitFor();
  await editor(page, 'Constraint').click();
  await page.keyboard.type('RamS');
  await page.locator('.cm-tooltip-autocomplete li').filter({ hasText: 'RamSize' }).waitFor();
  await shot(page, 'ads-completion');
  await page.waitForTimeout(150);
  await page.keyboard.press('Enter');
  await page.keyboard.type(' >= 56000 &&');
  await page.locator('.cm-lintRange-error').waitFor();
  await page.locator('.fault').filter({ hasText: 'column' }).waitFor();
  await shot(page, 'ads-error');
  await page.keyboard.type(' Cpus == 16');
  await page.locator('.cm-lintRange-error').waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
  await page.keyboard.press('Enter');
  await page.getByRole('columnheader', { name: 'RamSize' }).waitFor();
  await whole(page, 'Ads');
  const rows = await page.locator('tbody tr').allInnerTexts();
  assert.ok(rows.length > 0 && rows.every((row) => /56,000/.test(row) && /16/.test(row)), rows.join('\n'));
  await shot(page, 'ads');
  await close(page);
});

test('an ad that matches nothing is explained, and an edit is tried without changing the pool', async () => {
  const page = await open('#/ad/big'), old = await (await ask('/v1/ads/big')).text();
  await page.getByText('It matches nothing now').waitFor();
  await page.getByText('No offer satisfies').waitFor();
  await page.getByRole('button', { name: 'Try it' }).first().click();
  const then = page.locator('.card').filter({ hasText: 'With the edit' });
  await then.getByText('It matches.').waitFor();
  assert.match(await text(page, '.trial mark'), /RamSize >= 32000/);
  await page.waitForURL(/try=/);
  await page.reload(); // the address has which edit is tried
  await then.getByText('It matches.').waitFor();
  await shot(page, 'ad-why');
  await page.goBack();
  await page.locator('.trial').waitFor({ state: 'detached' });
  assert.equal(await (await ask('/v1/ads/big')).text(), old);
  await page.goto(`${server.url}/#/ad/misspelt`);
  await page.getByText('is meant?', { exact: false }).or(page.getByText('Is RamSize meant?')).first().waitFor();
  await page.goto(`${server.url}/#/ad/never`);
  await page.getByText('can never both be true').waitFor();
  await page.goto(`${server.url}/#/ad/fat`);
  await page.getByText('Who refuses it').waitFor();
  await page.goto(`${server.url}/#/ad/m3`);
  await page.getByText('Nobody who asks wants it').waitFor();
  await close(page);
});

test('an edit of an offer is tried as well, and the offer stays as it is', async () => {
  await put(pool.url, pool.admin, 'picky', '[ Name = "picky"; Type = "Dock"; Lifetime = 600; Constraint = other.Weight <= 5 ]');
  await put(pool.url, pool.admin, 'heavy', '[ Name = "heavy"; Type = "Job"; Weight = 9; Lifetime = 600; Constraint = other.Type == "Dock" ]');
  const page = await open('#/ad/picky'), old = await (await ask('/v1/ads/picky')).text();
  await page.getByText('It refuses all who ask now').waitFor();
  await page.getByRole('button', { name: 'Try it' }).first().click();
  const then = page.locator('.card').filter({ hasText: 'With the edit' });
  await then.getByText('1 of').waitFor();
  await then.getByRole('link', { name: 'heavy' }).waitFor();
  assert.match(await text(page, '.trial mark'), /other.Weight <= 9/);
  await shot(page, 'offer-trial');
  assert.equal(await (await ask('/v1/ads/picky')).text(), old);
  for (const id of ['picky', 'heavy']) await ask(`/v1/ads/${id}`, { method: 'DELETE', headers: { 'Berth-Agent': 'seed' } });
  await close(page);
});

test('a gang is a tree: its ports, who docks, and where the search ended', async () => {
  const page = await open('#/ad/gang');
  const tree = page.getByRole('group', { name: 'The gang' });
  await tree.locator('.node.warn').filter({ hasText: 'licence' }).getByText('the search ended here').waitFor();
  assert.match(await tree.locator('.node.good').first().innerText(), /cpu/);
  assert.match(await text(page, '.tree'), /scratch not reached may stay empty/);
  await tree.getByRole('button', { name: 'Try it' }).first().click();
  await tree.locator('.card').filter({ hasText: 'With the edit' }).getByText('refuses', { exact: false }).first().waitFor();
  await shot(page, 'gang');
  await page.goto(`${server.url}/#/ad/pair`);
  await page.getByText('cannot be filled together').waitFor();
  await page.getByText('HostName is "machine-9"', { exact: false }).or(page.locator('.died')).first().waitFor();
  await shot(page, 'gang-pair');
  await put(pool.url, pool.admin, 'svc', '[ Name = "svc"; Lifetime = 600; Ports = { [ Label = client; Type = "svc"; Constraint = client.Type == "svc_client" ], [ Label = box; Constraint = box.Type == "Storage" ] } ]', 'offer');
  await put(pool.url, pool.admin, 'nested', '[ Name = "nested"; Count = 0; Lifetime = 600; Ports = { [ Label = server; Type = "svc_client"; Constraint = server.Type == "svc" ] } ]', 'request');
  await page.goto(`${server.url}/#/ad/nested`);
  await page.getByText('There is a gang for it').waitFor();
  assert.match(await text(page, '.tree'), /server svc docked.*box disk1/);
  assert.match(await text(page, '.tree li li'), /box disk1/);
  await shot(page, 'gang-nested');
  await page.goto(`${server.url}/#/ad/misspelt`); // that somebody has ports does not make a gang of what could not dock there
  await page.getByText('1 more offer has ports at which it could not dock').waitFor();
  await page.getByRole('button', { name: 'Try it' }).first().click();
  await page.locator('.card').filter({ hasText: 'With the edit' }).getByText('It matches.').waitFor();
  await shot(page, 'gang-plain');
  await put(pool.url, pool.admin, 'clientele', '[ Name = "clientele"; Type = "svc_client"; Count = 0; Lifetime = 600; Constraint = other.Type == "svc" ]', 'request');
  await page.goto(`${server.url}/#/ad/clientele`); // one that could is explained as a gang
  await page.getByText('There is a gang for it').waitFor();
  await ask('/v1/ads/svc', { method: 'DELETE', headers: { 'Berth-Agent': 'seed' } });
  await close(page);
});

test('the playground evaluates as one types, underlines errors, and is shared by its address', async () => {
  const page = await open('#/play');
  await page.locator('.outcome .value').filter({ hasText: /^18\.2/ }).waitFor();
  await page.locator('.outcome').getByText('match', { exact: true }).waitFor();
  await write(page, 'Expression', 'other.Memory * 2');
  await page.locator('.outcome .value').filter({ hasText: '34359738368' }).waitFor();
  await editor(page, 'Expression').click();
  await page.keyboard.press('Control+a');
  await page.keyboard.type('regex');
  await page.locator('.cm-completionInfo').filter({ hasText: 'does the pattern P match somewhere in S?' }).waitFor(); // its entry of the manual
  await shot(page, 'play-functions');
  await page.keyboard.press('Escape');
  await page.getByLabel('Example').selectOption('Why undefined?');
  await page.getByRole('region', { name: 'Steps' }).getByRole('row').filter({ hasText: 'here it begins' }).getByText('the right ad has no Speed').waitFor();
  assert.equal(await page.getByText('here it begins').count(), 1);
  await shot(page, 'play-steps');
  await write(page, 'Right ad', '[ Memory = ');
  await page.locator('.editor[data-label="Right ad"] .cm-lintRange-error').waitFor();
  await shot(page, 'play-error');
  await write(page, 'Right ad', '[ Memory = 21; Note = "<b>x</b>" ]');
  await write(page, 'Expression', 'other.Memory * 2');
  await page.locator('.outcome .value').filter({ hasText: '42' }).waitFor();
  await write(page, 'Left ad', '[ Type = "Job"; ImageSize = 900 ]'); // HTCondor has no 900M
  await page.getByRole('button', { name: 'Condor' }).click();
  await write(page, 'Expression', 'TARGET.Memory + 1');
  await page.locator('.outcome .value').filter({ hasText: '22' }).waitFor();
  await page.waitForFunction(() => location.hash.includes('s='));
  await page.waitForTimeout(400);
  const other = await open(new URL(page.url()).hash);
  await other.locator('.outcome .value').filter({ hasText: '22' }).waitFor();
  assert.match(await editor(other, 'Right ad').innerText(), /Memory = 21/);
  await shot(other, 'play');
  await close(other);
  await close(page);
});

test('a question that is dropped on the way is asked again, and what stays without an answer is said', async () => {
  const page = await open('#/usage');
  const asked = [];
  let drop = (n) => n < 2;
  await page.route('**/v1/eval', (route) => {
    const what = route.request().postData(), n = asked.filter((other) => other === what).length;
    asked.push(what);
    return drop(n) ? route.abort('internetdisconnected') : route.continue();
  });
  await page.goto(`${server.url}/#/play`);
  await page.locator('.outcome .value').filter({ hasText: /^18\.2/ }).waitFor();
  await page.getByRole('region', { name: 'Steps' }).getByRole('row').nth(1).waitFor();
  drop = () => true;
  await write(page, 'Expression', '1 +'); // has no parts, which would be asked as well
  await page.getByText('The matchmaker does not answer.').first().waitFor();
  assert.equal(asked.filter((what) => JSON.parse(what).Expression === '1 +').length, 3);
  await close(page);
});

test('a policy is tried against the pool before it is applied', async () => {
  const hold = (ad) => ask('/v1/policy', { method: 'PUT', body: ad, headers: { 'Content-Type': 'application/classad' } });
  await hold('[ DockingVector = { label.Blessed } ]'); // nobody is
  await put(pool.url, pool.admin, 'chooser', '[ Name = "chooser"; Type = "Job"; ImageSize = 10; Lifetime = 600; Constraint = other.Type == "Machine" && other.RamSize > 0 ]');
  const page = await open('#/policy');
  const apply = page.getByRole('button', { name: 'Apply' });
  assert.ok(await apply.isDisabled());
  await write(page, 'Draft of a policy', '[ DockingVector = { 1, }');
  await page.getByRole('button', { name: 'Try', exact: true }).click();
  await page.locator('.cm-lintRange-error').waitFor();
  await page.waitForURL(/draft=/);
  const before = page.url();
  await write(page, 'Draft of a policy', '[ RootOrder = -UserPrio; DockingVector = { self.Rank, label.Rank, -label.RamSize } ]');
  await page.getByRole('button', { name: 'Try', exact: true }).click();
  await page.getByText('1 request would get something else').waitFor();
  assert.match(await text(page, 'table'), /chooser nothing m\d+/);
  await page.waitForURL((url) => url.href !== before);
  await page.goto('about:blank');
  await page.goBack(); // the address has the draft
  await editor(page, 'Draft of a policy').filter({ hasText: '-label.RamSize' }).waitFor();
  await shot(page, 'policy');
  await page.getByRole('button', { name: 'All machines, idle' }).click();
  await page.waitForURL(/with=idle/);
  await page.getByRole('button', { name: 'Try', exact: true }).click();
  await page.getByText('With all machines idle').waitFor(); // so it can be tried where nothing is free
  await page.getByRole('region', { name: 'What would change' }).getByRole('link', { name: /^machine-\d+$/ }).first().waitFor();
  await apply.click();
  await page.getByText('The draft is the policy now').waitFor();
  await page.locator('pre.code').filter({ hasText: 'RootOrder' }).waitFor();
  assert.match(await (await ask('/v1/policy')).text(), /RootOrder/);
  await hold('[]');
  await close(page);
});

test('an administrator writes the configuration for agents, sees what others write at once, and makes it again what it was', async () => {
  const page = await open('#/home'), put = (ad) => ask('/v1/config/Agent', { method: 'PUT', body: ad, headers: { 'Content-Type': 'application/classad' } });
  await page.getByRole('link', { name: 'Configuration' }).click();
  await page.getByText('Nothing is served yet').waitFor();
  await page.getByLabel('A section').fill('Agent');
  await page.getByRole('button', { name: 'Open' }).click();
  await page.getByText('It was never written.').waitFor();
  await write(page, 'Section Agent', '[ Lease = 60; Pin = ]');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.locator('.cm-lintRange-error').waitFor();
  await write(page, 'Section Agent', '[ Lease = 60; Pin = Lease / 2 ]');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved. Agents take it').waitFor();
  const rows = page.getByRole('region', { name: 'Revisions' }).locator('tbody tr');
  await rows.filter({ hasText: '[ Lease = 60; Pin = Lease / 2 ]' }).waitFor();
  await put('[ Lease = 90 ]');
  await editor(page, 'Section Agent').filter({ hasText: 'Lease = 90' }).waitFor({ timeout: 5000 }); // by the question that waits
  await rows.nth(1).waitFor();
  await shot(page, 'config-section');
  await write(page, 'Section Agent', '[ Lease = 91 ]');
  await put('[ Lease = 92 ]');
  await page.getByText('It was changed meanwhile').waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('alert').filter({ hasText: 'If-Match' }).waitFor(); // nothing is written over what one has not seen
  await page.getByRole('button', { name: 'Take what is there now' }).click();
  await editor(page, 'Section Agent').filter({ hasText: 'Lease = 92' }).waitFor();
  await rows.last().getByRole('button', { name: 'Make it so again' }).click();
  await page.getByText('It is again what it was at revision 1.').waitFor();
  await editor(page, 'Section Agent').filter({ hasText: 'Pin = Lease / 2' }).waitFor();
  await page.goto(`${server.url}/#/config`);
  await page.getByRole('region', { name: 'Sections' }).locator('tbody tr').filter({ hasText: /Agent.*2.*4.*ada/s }).waitFor();
  await shot(page, 'config');
  await page.getByRole('link', { name: 'Agent', exact: true }).click();
  await page.getByRole('button', { name: 'Take the section away' }).click();
  await rows.filter({ hasText: 'taken away' }).waitFor();
  assert.equal((await ask('/v1/config/Agent')).status, 404);
  await close(page);
  const other = await open('#/config/Agent', { token: pool.reader });
  await other.getByText('There is no such section.').waitFor();
  assert.equal(await other.getByRole('button', { name: /Save|Make it so/ }).count(), 0);
  await other.goto(`${server.url}/#/home`);
  await other.getByRole('link', { name: 'Policy' }).waitFor();
  await other.locator('.who').waitFor();
  assert.equal(await other.getByRole('link', { name: 'Configuration' }).count(), 0);
  await close(other);
});

test('where the editor cannot be fetched, that is said, and a plain field does as well', async () => {
  const page = await open('#/usage', { token: pool.owner });
  await page.getByRole('heading', { name: 'Accounting' }).waitFor();
  await page.route(/editor_core/, (route) => route.abort());
  await page.goto(`${server.url}/#/play`);
  await page.getByRole('alert').filter({ hasText: 'The editor could not be fetched' }).first().waitFor();
  await page.getByRole('textbox', { name: 'Expression' }).fill('6 * 7 + 100');
  await page.getByText('142').first().waitFor();
  await close(page);
});

test('users have a share, a usage and a place, and it is told why', async () => {
  const page = await open('#/users');
  await page.getByRole('region', { name: 'Users' }).getByRole('link', { name: 'ada' }).click();
  await page.getByText(/= factor 1 × \(usage/).first().waitFor();
  assert.match(await text(page, 'main'), /number \d+ of \d+ users who wait.*Priority .* = factor 1 × \(usage/);
  await shot(page, 'user');
  await page.getByRole('link', { name: 'All users' }).click();
  await page.getByRole('heading', { name: 'Groups' }).waitFor();
  await shot(page, 'users');
  await close(page);
});

test('groups and limits are shown, and a request that is held says what it waits for', async () => {
  await ask('/v1/shares', { method: 'PUT', headers: { 'Content-Type': 'application/classad' }, body: '[ Groups = { [ Name = "art"; Quota = 2; Surplus = false ] }; Limits = [ matlab = 0 ] ]' });
  await put(pool.url, pool.admin, 'limited', '[ Name = "limited"; Type = "Job"; ImageSize = 10; Lifetime = 600; AccountingGroup = "art"; ConcurrencyLimits = "matlab"; Constraint = other.RamSize > 0 ]');
  const page = await open('#/ad/limited');
  await page.locator('.verdict').filter({ hasText: 'limited asks for more of a limit than there is' }).waitFor();
  await page.getByText('The same as text').click();
  await page.locator('pre.code').filter({ hasText: 'limited: asks for more of a limit than there is' }).waitFor();
  await shot(page, 'ad-held');
  await page.goto(`${server.url}/#/users`);
  await page.getByRole('region', { name: 'Groups' }).getByText('art').waitFor();
  await page.getByRole('region', { name: 'Users' }).getByRole('link', { name: 'art~ada' }).waitFor();
  await shot(page, 'groups');
  await page.getByLabel('Limit matlab').fill('2');
  await page.getByRole('button', { name: 'Set limit' }).click();
  await page.getByRole('region', { name: 'Limits' }).locator('td[data-name=Most]').filter({ hasText: /^2/ }).waitFor();
  const shares = await (await ask('/v1/shares')).json();
  assert.deepEqual([shares.Limits, shares.Groups[0].Name, shares.Groups[0].Surplus], [{ matlab: 2 }, 'art', false]); // the rest stays
  await ask('/v1/shares', { method: 'PUT', headers: { 'Content-Type': 'application/classad' }, body: '[]' });
  await close(page);
});

const submitted = async (page, ad, what = /Jobs? \d+( to \d+)? submitted/) => {
  await write(page, 'Jobs to submit', ad);
  await page.getByRole('button', { name: 'Submit', exact: true }).click();
  const told = page.getByRole('link', { name: what });
  await told.first().waitFor();
  return told;
};

test('workflows are listed with how far they are, drawn, rescued by the whole and by the branch, and removed', async () => {
  const page = await open('#/workflows', { token: pool.owner });
  await page.getByText('No workflow is under way').waitFor();
  await page.getByRole('link', { name: 'Submit' }).last().click();
  const dag = `Dag = "seven <b>"; ${small}`, frames = Array.from({ length: 7 }, (_, i) => `[ Node = "frame${i}"; After = { "first" }; Cmd = "true"; ${dag} ]`).join('\n');
  await submitted(page, `[ Node = "first"; Cmd = "true"; ${dag} ]\n${frames}\n[ Node = "second"; After = { "first" }; Cmd = "false"; ${dag} ]\n[ Node = "third"; After = { "second", "frame1" }; Cmd = "true"; ${dag} ]`, /Job \d+ submitted/);
  await page.goto(`${server.url}/#/workflows`);
  const table = page.getByRole('region', { name: 'Workflows' });
  await table.getByText('stands still').waitFor({ timeout: 60_000 });
  await table.getByText('8 of 10 done').waitFor();
  await table.getByText('1 failed, 1 waits for what does not move').waitFor();
  await table.getByText('seven <b>').waitFor();
  await shot(page, 'workflows');
  await table.getByRole('link').click();
  const nodes = page.getByRole('region', { name: 'Nodes' }), graph = page.getByRole('group', { name: 'The graph' });
  await nodes.getByText('waits for second, which failed').waitFor();
  await nodes.getByText('Failed (exit 1)').waitFor();
  await graph.locator('.box').nth(3).waitFor();
  await graph.locator('.edge').nth(3).waitFor({ state: 'attached' });
  assert.equal(await graph.locator('.box').count(), 4); // the frames are one
  assert.equal(await graph.locator('.edge').count(), 4);
  await shot(page, 'workflow');
  await graph.getByRole('button', { name: 'frame… × 7: 7 succeeded' }).click();
  await graph.locator('.box').nth(9).waitFor();
  assert.equal(await graph.locator('.box').count(), 10);
  await graph.getByRole('button', { name: 'second: failed' }).click();
  await page.getByRole('button', { name: 'Hold the branch (2)' }).waitFor();
  await page.reload(); // the address has which node is chosen, and which boxes are opened
  await graph.locator('.box').nth(9).waitFor();
  await page.getByRole('button', { name: 'Hold the branch (2)' }).click();
  await graph.getByRole('button', { name: 'third: held' }).waitFor();
  await page.getByRole('button', { name: 'Release the branch' }).click();
  await graph.getByRole('button', { name: 'third: waiting' }).waitFor();
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('1 job waits again.').waitFor();
  await page.getByText('stands still').waitFor({ timeout: 60_000 }); // it fails again
  await page.getByRole('button', { name: 'Rescue' }).click();
  await page.getByText('1 job waits again.').first().waitFor();
  await page.getByText('stands still').waitFor({ timeout: 60_000 });
  await nodes.getByRole('link').first().click();
  await page.getByRole('link', { name: /workflow \d+/ }).click();
  await page.getByRole('button', { name: 'Remove' }).click();
  await page.getByText('2 jobs removed.').waitFor();
  await page.getByText('It is not under way.').waitFor();
  await nodes.getByText('Removed').first().waitFor();
  await page.goto(`${server.url}/#/workflow/nobody/x`);
  await page.getByText('There is no workflow x.').waitFor();
  await close(page);
});

test('jobs are submitted, followed, run again, held, released and removed', async () => {
  const page = await open('#/submit', { token: pool.owner });
  await page.getByLabel('Command').fill('./analyse --threads 4 "my data.csv"');
  await page.getByLabel('Memory, GiB').fill('4000');
  await page.getByLabel('How many jobs').fill('3');
  await page.locator('.verdict').filter({ hasText: /can run now|will wait/ }).waitFor(); // of these machines none says how much memory it has
  await editor(page, 'Jobs to submit').filter({ hasText: 'Count = 3' }).waitFor();
  assert.match(await editor(page, 'Jobs to submit').innerText(), /Args = { "--threads", "4", "my data.csv" };\s+RequestMemory = 4000G;\s+Count = 3/);
  await shot(page, 'submit');
  await write(page, 'Jobs to submit', '[ Cmd = "true"; Constraint = other.Cpus > 4000 ]');
  await page.locator('.verdict').filter({ hasText: 'cannot run as things are' }).waitFor(); // before it is sent
  await write(page, 'Jobs to submit', '[ Cmd = "true"; Constraint = other.Cpus > 8 && other.Cpus < 4 ]');
  await page.getByRole('list', { name: 'What is wrong with it' }).getByText("'other.Cpus > 8' and 'other.Cpus < 4' are never both true").waitFor();
  await shot(page, 'submit-lint');
  await write(page, 'Jobs to submit', '[ Cmd = ; ]');
  await page.locator('.cm-lintRange-error').waitFor(); // before it is sent
  await page.getByRole('button', { name: 'Submit', exact: true }).click();
  await page.locator('.cm-lintRange-error').waitFor();
  const told = await submitted(page, `[ Cmd = "/bin/sh"; Args = { "-c", "for i in 1 2 3; do echo line $i '<b>'; sleep 1; done; exit 3" }; ${small} ]`);
  await told.click();
  await page.locator('.output').filter({ hasText: 'line 3 <b>' }).waitFor({ timeout: 40_000 });
  await page.getByText('That is all.').waitFor({ timeout: 20_000 });
  await page.getByRole('heading', { level: 1 }).getByText('Failed (exit 3)').waitFor();
  await page.getByLabel('Search the output').fill('LINE');
  await page.getByText('3 found').waitFor();
  assert.equal(await page.locator('.output mark').count(), 3);
  assert.match(await text(page, '.stages'), /waited for a machine \d+s claimed, files in \d+s ran [2-5]s/);
  await page.getByRole('button', { name: 'What happened' }).click();
  await page.locator('.output').filter({ hasText: 'running' }).waitFor();
  assert.ok(!/\byet\b/.test(await text(page, 'main'))); // it is over
  await shot(page, 'job');
  const first = page.url();
  const save = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save stdout' }).click();
  assert.equal((await save).suggestedFilename(), 'stdout');
  const [, agent, job] = /job\/([^/]+)\/(\d+)/.exec(first), file = await ask(`/v1/desk/${agent}/jobs/${job}/files/log/stdout`, { headers: { Authorization: `Bearer ${pool.owner}`, Accept: 'application/octet-stream' } });
  assert.equal(file.headers.get('x-content-type-options'), 'nosniff');
  assert.equal(file.headers.get('content-disposition'), 'attachment');
  await page.getByRole('button', { name: 'Run again' }).click();
  await page.waitForURL((url) => url.href !== first);
  await page.locator('.output').filter({ hasText: 'line 3 <b>' }).waitFor({ timeout: 40_000 });
  await page.getByRole('button', { name: 'Edit and submit' }).click();
  await page.getByText('written by hand').waitFor();
  await editor(page, 'Jobs to submit').filter({ hasText: 'Cmd = "/bin/sh"' }).waitFor();
  assert.match(await editor(page, 'Jobs to submit').innerText(), /Cmd = "\/bin\/sh"/);
  assert.ok(!/Submitted|Claim|Owner/.test(await editor(page, 'Jobs to submit').innerText()));

  await submitted(page, '[ Cmd = "true"; Constraint = other.Cpus > 4000; Count = 3 ]');
  await page.goto(`${server.url}/#/jobs`);
  const region = page.getByRole('region', { name: 'Submissions' }), opened = page.getByRole('region', { name: 'Jobs', exact: true });
  await region.getByRole('button', { name: /\d+–\d+/ }).last().click();
  await opened.locator('tbody tr').nth(2).waitFor();
  await shot(page, 'jobs-submissions');
  await page.goto(`${server.url}/#/jobs?show=jobs`);
  await page.getByLabel('Search jobs').fill('Cmd == "true" && State == "Waiting"');
  await page.waitForURL(/search=Cmd/);
  await page.waitForFunction(() => document.querySelectorAll('main tbody tr').length === 3);
  await page.getByRole('button', { name: 'Job', exact: true }).click();
  await page.getByRole('button', { name: /^Job ↑/ }).click();
  await page.getByRole('button', { name: /^Job ↓/ }).waitFor();
  await whole(page, 'Jobs');
  assert.match(page.url(), /sort=-Job/);
  const numbers = async () => (await page.locator('main tbody td[data-name=Job]').allInnerTexts()).map(Number);
  assert.deepEqual(await numbers(), (await numbers()).sort((a, b) => b - a));
  await page.goto('about:blank');
  await page.goto(`${server.url}/#/jobs?show=jobs&search=${encodeURIComponent('other.Cpus isnt 7 && Cmd == "true" && Constraint isnt 7')}`);
  const row = page.getByRole('region', { name: 'Jobs' }).locator('tbody tr').last();
  for (const [verb, state] of [['Hold', 'Held'], ['Release', 'Waiting']]) {
    await row.getByRole('checkbox').check();
    await page.getByRole('button', { name: verb }).click();
    await row.getByText(state).waitFor();
  }
  await page.getByRole('button', { name: 'Choose all here' }).click();
  await page.getByText(/[3-9] chosen/).waitFor();
  await page.getByRole('button', { name: 'Choose none' }).click();
  await shot(page, 'jobs');
  const waiting = await open(new URL(await row.getByRole('link').evaluate((link) => link.href)).hash, { token: pool.owner });
  await waiting.getByText('No offer satisfies').waitFor();
  await waiting.getByRole('button', { name: 'Hold' }).click();
  await waiting.getByRole('heading', { level: 1 }).getByText('Held').waitFor();
  await waiting.getByRole('button', { name: 'Release' }).click();
  await waiting.getByRole('heading', { level: 1 }).getByText('Waiting').waitFor();
  await shot(waiting, 'job-waiting');
  await close(waiting);
  await whole(page, 'Jobs');
  const count = await page.getByRole('region', { name: 'Jobs' }).locator('tbody tr').count();
  await row.getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Remove' }).click();
  await page.waitForFunction((before) => document.querySelectorAll('tbody tr').length < before, count);
  await page.goto(`${server.url}/#/jobs?show=over`);
  await page.getByRole('button', { name: 'Removed' }).click();
  await page.getByRole('region', { name: 'Jobs' }).locator('tbody tr').first().getByText('Removed').waitFor();
  assert.equal(await page.locator('tbody .tag.bad').count(), 0); // one's own cancel is no fault
  await close(page);
});

test('a job reads files that were chosen on the page', async () => {
  const page = await open('#/submit', { token: pool.owner });
  await page.getByLabel('Files that they read').setInputFiles([
    { name: 'hello.sh', mimeType: 'text/plain', buffer: Buffer.from('#!/bin/sh\nwc -c <numbers.txt\ncat empty.txt last.txt\n') },
    { name: 'numbers.txt', mimeType: 'text/plain', buffer: Buffer.alloc(1_300_000, '7') },
    { name: 'empty.txt', mimeType: 'text/plain', buffer: Buffer.alloc(0) },
    { name: 'last.txt', mimeType: 'text/plain', buffer: Buffer.from('the last line') },
  ]);
  await page.getByText('4 files, 1.2 MiB').waitFor();
  const told = await submitted(page, `[ Cmd = "./hello.sh"; ${small} ]`);
  await shot(page, 'submit-files');
  await told.click();
  await page.locator('.output').filter({ hasText: '1300000' }).filter({ hasText: 'the last line' }).waitFor({ timeout: 40_000 });
  await page.goto(`${server.url}/#/submit`);
  await page.getByLabel('Files that they read').setInputFiles([{ name: 'a', mimeType: 'text/plain', buffer: Buffer.from('a') }]);
  await page.getByText('1 file, 1 B').waitFor();
  await write(page, 'Jobs to submit', '[ Cmd = "/bin/true"; Inputs = { } ]');
  await page.getByRole('button', { name: 'Submit', exact: true }).click();
  await page.getByRole('alert').filter({ hasText: 'Inputs of its own' }).waitFor();
  await close(page);
});

test('a submit file is shown as the ad that it makes, and sent as that, with its files', async () => {
  const page = await open('#/submit', { token: pool.owner });
  await write(page, 'Jobs to submit', 'executable = /bin/cat\narguments = part.txt\ntransfer_input_files = part.txt\nrequest_memory = 16M\nrequest_disk = 8M\nnotification = always\nqueue');
  await page.getByRole('heading', { name: 'The submit file' }).waitFor();
  await page.getByRole('list', { name: 'What is wrong with it' }).getByText('line 6: notification').waitFor();
  await page.getByText('It reads part.txt: choose it here.').waitFor();
  await page.getByText('The ad that this submit file makes').click();
  await page.locator('pre.code').filter({ hasText: 'RequestCpus = 1' }).waitFor();
  await page.getByLabel('Files that they read').setInputFiles([{ name: 'part.txt', mimeType: 'text/plain', buffer: Buffer.from('from the submit file') }]);
  await page.getByText('It reads part.txt').waitFor({ state: 'detached' });
  await shot(page, 'submit-file');
  await page.getByRole('button', { name: 'Submit', exact: true }).click();
  await page.getByRole('link', { name: /Job \d+ submitted/ }).click();
  await page.locator('.output').filter({ hasText: 'from the submit file' }).waitFor({ timeout: 40_000 });
  await close(page);
});

test('what comes again stands among the jobs, with its next time, and is held and released there', async () => {
  const ask = async (path, body) => (await fetch(`${pool.url}${path}`, { method: body ? 'POST' : 'GET', body: body && JSON.stringify(body), headers: { Authorization: `Bearer ${pool.owner}`, Accept: 'application/json', 'Content-Type': 'application/json' } })).json();
  const [desk] = await ask('/v1/desks'), page = await open('#/jobs?show=again', { token: pool.owner });
  await page.getByText('Nothing comes again.').waitFor();
  const rule = await ask(`/v1/desk/${desk.Agent}/crons`, { Schedule: '30 4 1 1 *', JobAd: { Cmd: 'true' } });
  const row = page.getByRole('row').filter({ hasText: '30 4 1 1 *' });
  await row.filter({ hasText: '-01-01 04:30' }).waitFor();
  await row.getByRole('button', { name: `Hold rule ${rule.Cron}` }).click();
  await row.filter({ hasText: 'held' }).waitFor();
  await row.getByRole('button', { name: `Release rule ${rule.Cron}` }).click();
  await row.filter({ hasText: '-01-01 04:30' }).waitFor();
  await shot(page, 'again');
  await close(page);
});

test('each state of a view has an address, and who goes back finds a list as it was left', async () => {
  const owner = { Authorization: `Bearer ${pool.owner}`, 'Content-Type': 'application/classad' }, [desk] = await (await ask('/v1/desks', { headers: owner })).json();
  const sent = await ask(`/v1/desk/${desk.Agent}/jobs?key=places`, { method: 'POST', headers: owner, body: '[ Cmd = "sleep"; Args = { "60" }; Constraint = other.Cpus > 4000; Count = 60 ]' });
  assert.equal(sent.status, 201, await sent.clone().text());
  const [{ First: first }] = await sent.json(), jobs = (n) => page.getByRole('region', { name: 'Jobs', exact: true }).getByRole('link', { name: String(n), exact: true });
  const page = await open('#/jobs', { token: pool.owner });
  await page.getByRole('button', { name: new RegExp(`${first}.${first + 59}`) }).click();
  await jobs(first).waitFor();
  await page.locator('.opened .pager').getByRole('button', { name: 'Next' }).click();
  await jobs(first + 49).waitFor();
  await whole(page, 'Jobs');
  const address = page.url();
  await page.evaluate(() => scrollTo(0, 300));
  await jobs(first + 40).scrollIntoViewIfNeeded();
  const place = await page.evaluate(() => scrollY);
  assert.ok(place > 100, `the list is only ${place} px longer than the window`);
  await jobs(first + 40).click();
  await page.getByRole('button', { name: 'Edit and submit' }).waitFor();
  await page.waitForFunction(() => scrollY === 0); // another view begins at its beginning
  await page.getByRole('button', { name: 'What happened' }).click();
  await page.waitForURL(/show=log/);
  await page.getByLabel('Search the output').fill('submitted');
  await page.locator('.output mark').waitFor();
  await page.goBack();
  await page.locator('button[aria-pressed=true]').filter({ hasText: /^Output$/ }).waitFor();
  await page.goBack();
  await jobs(first + 49).waitFor();
  assert.equal(page.url(), address);
  await page.waitForFunction((before) => scrollY === before, place); // where one was
  await page.getByRole('button', { name: 'Next' }).click();
  await jobs(first + 59).waitFor();
  await page.goBack();
  await page.getByText('Page 2').waitFor();
  await page.goForward();
  await page.getByText('Page 3').waitFor();
  await page.goto('about:blank');
  await page.goto(address); // by its address alone
  await jobs(first + 49).waitFor();
  await page.getByText('Page 2').waitFor();
  await page.getByRole('button', { name: 'Back' }).click();
  await jobs(first).waitFor();
  await page.goto('about:blank');
  await page.goto(`${server.url}/#/jobs?show=jobs&search=sleep&sort=-Job&state=waiting`); // all of them are sorted, and not those of a page
  await page.getByRole('region', { name: 'Jobs', exact: true }).locator('tbody tr').nth(49).waitFor();
  await whole(page, 'Jobs');
  assert.match(await page.locator('tbody td[data-name=Job]').first().innerText(), new RegExp(`^${first + 59}$`));
  await page.goto(`${server.url}/#/jobs?show=jobs&search=sleep&sort=Submitted&state=waiting`);
  await page.getByRole('region', { name: 'Jobs', exact: true }).locator('tbody tr').nth(49).waitFor();
  assert.equal(await page.getByText('are sorted; the next pages have others').count(), 0); // the customer has sorted all of them
  await page.getByRole('button', { name: 'Next' }).click();
  await jobs(first + 59).waitFor();
  await page.goto(`${server.url}/#/jobs?search=sleep`); // submissions are found, too
  await page.getByRole('region', { name: 'Submissions' }).getByRole('button', { name: new RegExp(`${first}.${first + 59}`) }).waitFor();
  await page.getByLabel('Search submissions').fill('Jobs > 60');
  await page.getByText('No submission is so.').waitFor();
  await page.getByLabel('Sorted').selectOption('Newest first');
  await page.waitForURL(/sort=-Submitted/);
  await page.goto(`${server.url}/#/jobs?show=jobs&search=sleep`);
  await jobs(first).waitFor();
  await page.getByRole('button', { name: 'Choose all that are so' }).click();
  await page.getByText('All that are so are chosen').waitFor();
  await page.getByRole('button', { name: 'Choose none' }).click();
  await page.getByRole('button', { name: 'Choose all here' }).click();
  await page.getByText('25 chosen').waitFor(); // and no others
  await page.getByRole('button', { name: 'Choose all that are so' }).click();
  await page.getByText('All that are so are chosen').waitFor();
  await shot(page, 'jobs-chosen');
  await page.getByRole('button', { name: 'Hold', exact: true }).click();
  await page.getByRole('status').filter({ hasText: /60 jobs held/ }).waitFor(); // of three pages
  await page.goto(`${server.url}/#/submit`);
  await page.getByLabel('Command').fill('./half-written');
  await page.goto(`${server.url}/#/machines`);
  await page.getByLabel('Search machines').waitFor();
  await page.goBack();
  assert.equal(await page.getByLabel('Command').inputValue(), './half-written');
  await ask(`/v1/desk/${desk.Agent}/control`, { method: 'POST', headers: { ...owner, 'Content-Type': 'application/json' }, body: JSON.stringify({ Verb: 'remove', Ids: `${first}-${first + 59}` }) });
  await close(page);
});

test('nobody is led to the customer of somebody else, not by its address either', async () => {
  const made = await fetch(`${pool.url}/v1/desks`, { headers: { Authorization: `Bearer ${pool.owner}`, Accept: 'application/json' } });
  const [theirs] = await made.json();
  const page = await open(`#/jobs?desk=${theirs.Agent}`); // ada has no customer of her own here
  await page.getByText('The customers here are those of others').waitFor();
  await page.getByText('berth token code --customer ada', { exact: true }).waitFor();
  assert.equal(await page.getByRole('link', { name: 'Submit' }).count(), 1); // the view's own
  await shot(page, 'jobs-nobody');
  await page.goto(`${server.url}/#/job/${theirs.Agent}/1`);
  await page.getByRole('alert').filter({ hasText: 'no such customer of yours' }).first().waitFor();
  await shot(page, 'job-of-another');
  await close(page);
});

test('values that are HTML and script are shown as text', async () => {
  const page = await open('#/ads?constraint=' + encodeURIComponent('AdId isnt undefined || Note isnt undefined'));
  await page.goto(`${server.url}/#/ads?constraint=${encodeURIComponent('Note isnt undefined')}`);
  await page.getByRole('region', { name: 'Ads' }).getByText(evil).first().waitFor();
  await page.getByRole('columnheader', { name: 'Note' }).waitFor();
  await shot(page, 'html-list');
  await page.goto(`${server.url}/#/ad/evil`);
  await page.locator('pre.code').filter({ hasText: '<script>' }).waitFor();
  await page.goto(`${server.url}/#/ad/${encodeURIComponent('<img src=x onerror=window.hacked=1>')}`);
  await page.locator('h1').filter({ hasText: '<img' }).waitFor();
  await page.getByRole('alert').first().waitFor();
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.locator('main img, main script').count(), 0);
  await close(page);
});

test('everything is reached by the keyboard', async () => {
  const page = await open('#/home');
  await page.locator('.figure').first().waitFor();
  const focused = () => page.evaluate(() => {
    let at = document.activeElement;
    while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
    return `${at?.tagName} ${(at?.getAttribute('aria-label') ?? at?.textContent ?? '').trim().slice(0, 40)}`;
  });
  const tabTo = async (wanted, key = 'Tab') => {
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press(key);
      if ((await focused()).startsWith(wanted)) return;
    }
    assert.fail(`${wanted} is not reached; at ${await focused()}`);
  };
  await page.keyboard.press('Tab');
  assert.equal(await focused(), 'A Skip to the content');
  await shot(page, 'keyboard-skip');
  await tabTo('BUTTON For experts');
  await page.keyboard.press('Enter');
  await tabTo('A Ads', 'Shift+Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Ads' }).waitFor();
  await editor(page, 'Constraint').waitFor();
  await tabTo('DIV Constraint');
  await page.keyboard.type('Name == "misspelt"');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 1);
  await tabTo('BUTTON Find'); // out of the editor again
  await tabTo('A misspelt');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Try it' }).first().waitFor();
  await tabTo('BUTTON Try it');
  await page.keyboard.press('Enter');
  await page.getByText('With the edit').waitFor();
  const outlined = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  assert.notEqual(outlined, 'none');
  await close(page);
});

test('keys lead through views, rows and help, and leave fields alone', async () => {
  const page = await open('#/home');
  await page.locator('.attend li').nth(1).waitFor();
  for (let rows = 0; rows !== (rows = await page.locator('.attend li').count());) await page.waitForTimeout(3000); // several are asked; a row that comes above moves the others
  const here = () => page.evaluate(() => [...document.querySelectorAll('main .attend li')].findIndex((row) => row.contains(document.activeElement)));
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  assert.equal(await here(), 1);
  await page.keyboard.press('k');
  assert.equal(await here(), 0);
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'detached' });
  await page.keyboard.type('gm');
  await page.getByLabel('Search machines').waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('jgh?'); // is written, not done
  assert.equal(await page.getByLabel('Search machines').inputValue(), 'jgh?');
  await page.getByText('No machine is so.').waitFor();
  await close(page);
});

test('who has changed what is shown, of the pool and of jobs, by person and kind', async () => {
  const page = await open('#/audit');
  await page.getByRole('region', { name: 'Changes' }).waitFor();
  await page.getByLabel('Kind').fill('tokens');
  await page.getByRole('button', { name: 'Find' }).click();
  await page.waitForURL(/what=tokens/);
  await page.getByRole('cell', { name: 'tokens.create' }).first().waitFor();
  await page.getByLabel('Person').fill('nobody-of-that-name');
  await page.getByRole('button', { name: 'Find' }).click();
  await page.getByText('Nothing of that was changed.').waitFor();
  await close(page);
  const owner = { Authorization: `Bearer ${pool.owner}` };
  const [desk] = await (await ask('/v1/desks', { headers: owner })).json();
  const sent = await ask(`/v1/desk/${desk.Agent}/jobs?key=audit`, { method: 'POST', headers: { ...owner, 'Content-Type': 'application/classad' }, body: '[ Cmd = "true"; Outputs = {}; Constraint = other.Name == "nowhere" ]' });
  assert.equal(sent.status, 201);
  const jobs = await open(`#/audit?log=${desk.Agent}&what=jobs`, { token: pool.owner });
  await jobs.getByRole('cell', { name: 'jobs.submit' }).first().waitFor();
  await shot(jobs, 'audit');
  await close(jobs);
  const reader = await open('#/audit', { token: pool.reader });
  await reader.getByRole('heading', { name: 'Changes' }).waitFor();
  await reader.getByText('There is no log that you may read.').waitFor();
  await close(reader);
});

test('what was used is told by month, by user and by machine; of others only to those who may know', async () => {
  const owner = { Authorization: `Bearer ${pool.owner}` };
  const [desk] = await (await ask('/v1/desks', { headers: owner })).json();
  const sent = await ask(`/v1/desk/${desk.Agent}/jobs?key=usage`, { method: 'POST', headers: { ...owner, 'Content-Type': 'application/classad' }, body: '[ Cmd = "true"; Outputs = {}; RequestMemory = 16M; RequestDisk = 1M ]' });
  assert.equal(sent.status, 201);
  let rows = [];
  for (let i = 0; i < 300 && !rows.length; i++) {
    rows = (await (await ask('/v1/usage?by=month')).json()) ?? [];
    if (!rows.length) await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const { Month } = rows.at(-1);
  assert.match(Month, /^\d{4}-\d{2}$/);
  const page = await open('#/usage');
  await page.getByRole('region', { name: 'What was used' }).getByRole('cell', { name: Month, exact: true }).waitFor();
  await page.getByRole('button', { name: 'User', exact: true }).click();
  await page.getByRole('columnheader', { name: 'User' }).waitFor();
  assert.equal(await page.getByRole('columnheader', { name: 'Month' }).count(), 0);
  await page.getByRole('button', { name: 'Each month' }).click();
  await page.getByRole('cell', { name: Month, exact: true }).first().waitFor();
  await page.getByRole('button', { name: 'Machine', exact: true }).click();
  await page.getByRole('columnheader', { name: 'Machine' }).waitFor();
  await page.getByLabel('To').fill('1999-12');
  await page.getByRole('button', { name: 'Show' }).click();
  await page.getByText('Nothing of that was used.').waitFor();
  await page.getByLabel('From').fill('soon');
  await page.getByRole('button', { name: 'Show' }).click();
  await page.getByRole('alert').filter({ hasText: 'expected a month' }).waitFor();
  await close(page);
  const reader = await open('#/usage', { token: pool.reader });
  await reader.getByText('Nothing was used yet.').waitFor();
  assert.equal(await reader.getByRole('button', { name: 'Machine', exact: true }).count(), 0);
  await close(reader);
});

const views = ['home', 'machines', 'machines?as=list', 'machines/kite', 'jobs', 'jobs?show=jobs', 'jobs?show=over', 'jobs?show=again', 'job', 'submit', 'workflows', 'workflow', 'users', 'users/ada', 'usage', 'policy', 'config', 'config/Agent', 'play', 'audit', 'pool', 'ads', 'ad/big', 'ad/gang', 'ad/m5', 'agents', 'nowhere'];
/** A job that is over, and a workflow that is under way, of those that the tests before have made. */
async function viewsWhole() {
  const owner = { Authorization: `Bearer ${pool.owner}` }, [desk] = await (await ask('/v1/desks', { headers: owner })).json();
  const sent = await ask(`/v1/desk/${desk.Agent}/jobs?key=views`, { method: 'POST', headers: { ...owner, 'Content-Type': 'application/classad' }, body: '[ Node = "first"; Cmd = "true"; Constraint = other.Cpus > 4000 ]\n[ Node = "second"; After = { "first" }; Cmd = "true" ]' });
  const flow = (await sent.json())[0].First, [over] = await (await ask(`/v1/desk/${desk.Agent}/history?limit=1`, { headers: owner })).json();
  return views.map((view) => (view === 'job' ? `job/${desk.Agent}/${over.Job}` : view === 'workflow' ? `workflow/${desk.Agent}/${flow}` : view));
}

test('axe finds nothing, in light and dark', async () => {
  const found = [], whole = await viewsWhole();
  for (const colorScheme of ['light', 'dark']) {
    const page = await open('#/home', { colorScheme, token: pool.owner });
    await page.evaluate(axe);
    for (const view of colorScheme === 'light' || shots ? whole : whole.filter((one) => /^(home|machines|job.*over|job\/.*|submit|workflow\/.*|play)$/.test(one)) /* the colours alone are others */) {
      await page.goto(`${server.url}/#/${view}`);
      await page.waitForTimeout(600);
      const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
      for (const { id, nodes } of violations) found.push(`${colorScheme} ${view}: ${id}: ${nodes.map((node) => `${node.target} ${node.any[0]?.message ?? ''}`).slice(0, 3).join(' | ')}`);
      await shot(page, `axe-${view.replace(/\W/g, '-')}-${colorScheme}`);
    }
    await close(page);
  }
  assert.deepEqual(found, []);
});

test('a stream that is cut is said quietly, polled for, and comes back', async () => {
  const page = await open('#/pool');
  await page.locator('.link.live').waitFor();
  server.cut();
  await page.locator('.link.asking').waitFor();
  await put(pool.url, pool.admin, 'while-cut', '[ Name = "while-cut"; Type = "CutKind"; Lifetime = 600 ]');
  await page.getByRole('region', { name: 'Offers by kind' }).getByText('CutKind').waitFor();
  await shot(page, 'stream-cut');
  server.mend();
  await page.locator('.link.live').waitFor({ timeout: 20_000 });
  await close(page);
});

test('a token without the scope sees the refusal, not a blank', async () => {
  const page = await open('#/ad/m5', { token: pool.reader });
  await page.getByRole('alert').filter({ hasText: 'scope that this needs: match' }).first().waitFor();
  await page.locator('pre.code').filter({ hasText: 'machine-5' }).waitFor();
  await shot(page, 'refused-ad');
  await page.goto(`${server.url}/#/policy`);
  await page.getByText('yours does not have it').waitFor();
  assert.ok(await page.getByRole('button', { name: 'Apply' }).isDisabled());
  await page.getByRole('button', { name: 'Try', exact: true }).click();
  await page.getByRole('alert').filter({ hasText: 'match' }).waitFor();
  await page.goto(`${server.url}/#/play`);
  await page.getByRole('alert').filter({ hasText: 'match' }).waitFor();
  await shot(page, 'refused-play');
  if (!server.own) {
    await page.goto(`${server.url}/#/jobs`);
    await page.getByRole('alert').filter({ hasText: 'job:own' }).waitFor();
  }
  await close(page);
});

test('a narrow window has a menu, never scrolls sideways, and loses no column', async () => {
  const whole = await viewsWhole();
  for (const colorScheme of ['light', 'dark']) {
    const page = await open('#/home', { viewport: narrow, colorScheme, token: pool.owner });
    await page.locator('.figure').first().waitFor();
    assert.ok(!(await page.getByRole('link', { name: 'Users' }).isVisible()));
    await page.getByRole('button', { name: 'Menu' }).click();
    await shot(page, `narrow-menu-${colorScheme}`);
    await page.getByRole('link', { name: 'Users' }).click();
    await page.getByRole('heading', { name: 'Users' }).first().waitFor();
    await page.getByRole('link', { name: 'Policy' }).waitFor({ state: 'hidden' });
    for (const view of colorScheme === 'light' || shots ? whole : whole.slice(0, 3)) {
      await page.goto(`${server.url}/#/${view}`);
      await page.waitForTimeout(500);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(over <= 0, `${view} is ${over} px too wide`);
      await shot(page, `narrow-${view.replace(/\W/g, '-')}-${colorScheme}`);
    }
    await close(page);
  }
});

test('where there is nothing each view says what it is for, and has the first step', async () => {
  const young = await poolStart(), door = await serve({ pool: young.url, socket: young.socket, dist });
  const page = await (await browser.newContext({ viewport: wide })).newPage();
  page.setDefaultTimeout(10_000);
  page.on('pageerror', (error) => faults.push(error.message));
  await page.addInitScript((kept) => sessionStorage.setItem('berth.token', kept), young.owner);
  const empty = (words) => page.locator('.empty').filter({ hasText: words }).first(), submit = (words) => empty(words).getByRole('link', { name: /^Submit/ });
  try {
    for (const [view, words] of [['home', 'what runs and what waits'], ['home', 'Nothing is under way'], ['jobs', 'stands here in one row'], ['jobs?show=jobs', 'wait, run or are held stand here'], ['jobs?show=over', 'Jobs that are over stand here'],
      ['workflows', 'wait for each other stand here'], ['users', 'whose turn it is'], ['usage', 'is added up here']]) {
      await page.goto(`${door.url}/#/${view}`);
      assert.match(await submit(words).getAttribute('href'), /^#\/submit/, view);
    }
    await page.goto(`${door.url}/#/jobs?show=again`);
    await empty('Nothing comes again.').getByText('berth cron add').waitFor();
    await page.goto(`${door.url}/#/users`);
    await empty('Groups share the pool').waitFor();
    await empty('Limits say how many').getByText('Shares').waitFor();
    await page.goto(`${door.url}/#/machines`);
    await page.locator('a.tile').first().click();
    await empty('when parts of it were claimed').waitFor();
    await page.goto(`${door.url}/#/submit`); // and this is the first step
    await page.getByRole('button', { name: 'Say hello' }).click();
    const began = Date.now();
    await page.getByRole('button', { name: 'Submit', exact: true }).click();
    await page.getByRole('link', { name: /Job \d+ submitted/ }).click();
    await page.locator('.output').filter({ hasText: 'hello from' }).waitFor({ timeout: 30_000 });
    console.log(`# the first job of a pool has printed its line ${Date.now() - began} ms after it was submitted`);
  } finally {
    await page.context().close();
    await door.close();
    await young.stop();
  }
});

test('jobs that are held at any customer that one may use need attention, and are released where they are', async () => {
  const young = await poolStart(), door = await serve({ pool: young.url, socket: young.socket, dist });
  const tell = (path, init = {}) => fetch(young.url + path, { ...init, headers: { Authorization: `Bearer ${young.owner}`, Accept: 'application/json', ...init.headers } });
  const page = await (await browser.newContext({ viewport: wide })).newPage();
  page.setDefaultTimeout(20_000);
  await page.addInitScript((kept) => sessionStorage.setItem('berth.token', kept), young.owner);
  try {
    await young.customerAdd('lab');
    let desks = [];
    for (let i = 0; i < 200 && desks.length < 2; i++, await new Promise((resolve) => setTimeout(resolve, 100))) desks = await (await tell('/v1/desks')).json();
    assert.deepEqual(desks.map((one) => one.Identity).sort(), ['lab', userInfo().username].sort());
    for (const { Agent, Identity } of desks) {
      const sent = await tell(`/v1/desk/${Agent}/jobs?key=held`, { method: 'POST', body: '[ Cmd = "true"; Constraint = other.Cpus > 4000; Count = 2 ]', headers: { 'Content-Type': 'application/classad' } });
      assert.equal(sent.status, 201, await sent.clone().text());
      const [{ First }] = await sent.json();
      const held = await tell(`/v1/desk/${Agent}/control`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ Verb: 'hold', Ids: `${First}-${First + 1}`, Why: `the disk of ${Identity} is full` }) });
      assert.equal((await held.json()).Changed, 2);
    }
    await page.goto(`${door.url}/#/home`);
    const own = page.locator('.attend li').filter({ hasText: `2 jobs are held at ${desks[0].Name} (${userInfo().username}): the disk of ${userInfo().username} is full` }), theirs = page.locator('.attend li').filter({ hasText: 'the disk of lab is full' });
    await own.waitFor();
    await theirs.getByRole('button', { name: 'Release' }).click();
    await theirs.waitFor({ state: 'detached' });
    await own.waitFor();
  } finally {
    await page.context().close();
    await door.close();
    await young.stop();
  }
});

test('another Host or Origin is refused', async (t) => {
  if (server.own) return t.skip('this pool has no page');
  const { hostname, port } = new URL(pool.url);
  const status = (headers) => new Promise((resolve, reject) => http.get({ hostname, port, path: '/', headers: { Accept: 'text/html', ...headers } }, (answer) => (answer.resume(), resolve(answer.statusCode))).on('error', reject));
  assert.equal(await status({ Host: `${hostname}:${port}` }), 200);
  assert.ok((await status({ Host: 'evil.example' })) >= 400);
  assert.ok((await status({ Host: `${hostname}:${port}`, Origin: 'http://evil.example' })) >= 400);
});

test('the colours can be chosen, and stay chosen', async () => {
  const page = await open('#/play');
  const paper = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await paper();
  await page.getByRole('button', { name: /Colours: system/ }).click();
  await page.getByRole('button', { name: /Colours: light/ }).click();
  await page.getByRole('button', { name: /Colours: dark/ }).waitFor();
  assert.notEqual(await paper(), light);
  await page.reload();
  await page.getByRole('button', { name: /Colours: dark/ }).waitFor();
  assert.notEqual(await paper(), light);
  await shot(page, 'play-dark');
  await close(page);
});

test('it is small and soon there', async () => {
  const packed = (name) => gzipSync(readFileSync(join(dist, name)), { level: 9 }).length;
  const files = readdirSync(join(dist, 'assets')), html = readFileSync(join(dist, 'index.html'), 'utf8');
  const first = ['index.html', ...files.filter((name) => html.includes(`/assets/${name}`) && /\.(js|css)$/.test(name)).map((name) => `assets/${name}`)].reduce((sum, name) => sum + packed(name), 0);
  const size = files.filter((name) => name.endsWith('.js')).reduce((sum, name) => sum + packed(`assets/${name}`), 0);
  assert.ok(first < 60_000 && size < 200_000, `${first} bytes before the first paint, ${size} bytes of script`);
  const page = await open('#/home');
  await page.locator('.figure').first().waitFor();
  const times = [];
  for (let i = 0; i < 3; i++) {
    await page.goto('about:blank');
    await page.goto(`${server.url}/#/home`).catch(() => {});
    await page.getByRole('heading', { name: 'Home', exact: true }).waitFor();
    times.push(await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN));
  }
  console.log(`# ${first} bytes before the first paint, ${size} bytes of script in all, compressed; first paint after ${times.map(Math.round).join(', ')} ms`);
  assert.ok(Math.min(...times) < 300, `first paint after ${times} ms`);
  await close(page);
});

test('ten thousand offers and a hundred thousand jobs do not make it slow: it asks for pages and counts', async () => {
  for (let batch = 0; batch < 5; batch++) {
    const rows = Array.from({ length: 2000 }, (_, i) => `[ Message = "advertise"; Id = "off${batch * 2000 + i}"; Ad = [ Name = "o${i}"; Type = "Machine"; Site = "far"; Cpus = ${i % 64}; Lifetime = 600; Constraint = other.Type == "Visitor" ] ]`);
    const answer = await ask('/v1/ads', { method: 'POST', body: rows.join('\n'), headers: { 'Content-Type': 'application/classad', 'Berth-Agent': 'seed' } });
    assert.ok(answer.ok, `${answer.status}`);
  }
  await put(pool.url, pool.admin, 'many', '[ Name = "many"; Type = "Job"; Count = 100000; Lifetime = 600; Constraint = other.Site == "near" ]');
  const page = await open('#/pool'), large = [];
  page.on('response', async (answer) => {
    if (!answer.url().includes('/v1/') || answer.url().includes('/v1/watch')) return;
    if (answer.url().includes('/v1/machines')) return; // a few screens of them at a time
    const size = (await answer.body().catch(() => '')).length;
    if (size > 100_000) large.push(`${answer.url()}: ${size} bytes`);
  });
  const within = async (most, name, there) => {
    const began = Date.now();
    await there();
    assert.ok(Date.now() - began < most, `${name} took ${Date.now() - began} ms`);
  };
  await page.locator('.figure').filter({ hasText: /10\d{4}|10\d,\d{3}/ }).first().waitFor();
  await shot(page, 'many-pool');
  await page.goto(`${server.url}/#/ads`);
  await within(3000, 'the list', () => page.locator('tbody tr').nth(9).waitFor()); // the others come with the next frames
  await page.locator('tbody tr').nth(49).waitFor();
  await page.goto(`${server.url}/#/ads?constraint=${encodeURIComponent('Site == "far" && Cpus == 63')}`);
  await within(3000, 'a search', () => page.getByRole('columnheader', { name: 'Cpus' }).waitFor());
  await page.goto(`${server.url}/#/machines`);
  const tiles = page.locator('a.tile');
  await within(3000, 'the machines', () => tiles.nth(12).waitFor());
  await page.getByText(/1\d,\d{3} machines/).waitFor();
  await shot(page, 'many-machines', false);
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  await within(10_000, 'the last of them', () => tiles.filter({ hasText: 'vm' }).or(tiles.filter({ hasText: 'owl' })).or(tiles.filter({ hasText: 'o1999' })).first().waitFor());
  assert.ok(await tiles.count() < 120, 'only what is in the window is drawn');
  assert.ok(await page.evaluate(() => document.querySelectorAll('*').length) < 4000);
  await page.goto(`${server.url}/#/ad/many`);
  await within(5000, 'an explanation', () => page.getByText('No offer satisfies').waitFor());
  assert.deepEqual(large, []);
  await close(page);
});

test('no rule of the Content-Security-Policy was broken, and no error was left', () => {
  assert.deepEqual(faults.filter((fault) => !/sessionStorage/.test(fault)), []);
});
