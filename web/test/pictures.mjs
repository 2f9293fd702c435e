// pictures.mjs: makes the three pictures of README.md, of a pool with a few users:  BERTH=../build/berth node test/pictures.mjs ../docs/pictures
import { join } from 'node:path';
import { browserStart } from './frames.mjs';
import { poolStart } from './pool.mjs';

const folder = process.argv[2] ?? '.', type = { 'Content-Type': 'application/classad' }, GIB = 2 ** 30;
const pool = await poolStart(), browser = await browserStart();
const ask = (path, { token = pool.owner, ...init } = {}) => fetch(pool.url + path, { ...init, headers: { Authorization: `Bearer ${token}`, Accept: 'application/json', ...init.headers } });
const word = (n) => n.toString(16).padStart(16, '0');
const until = async (what) => { for (let i = 0; i < 600; i++) { if (await what()) return; await new Promise((resolve) => setTimeout(resolve, 200)); } throw new Error(`this does not come: ${what}`); };

/** What a provider would tell of its machine; the state is its place in the list of states. */
const stands = (i, state, told) => `[Message="stands";Id="${word(0xa0 + i)}";Version="${word(1)}";Base="${word(1)}";State="${word(state)}";Since=720000000;Until=-1;Sure=true;Pulls=false;Gone=false;Told=[${told}];`
  + `Ad=[Type="Machine";Name="node${i}";Cpus=${16 << (i % 3)};Memory=${(64 << (i % 3)) * GIB};Disk=1099511627776;GpuCount=${i % 3 ? 4 : 0};LoadAvg=3.9;Lifetime=600;Constraint=false]]`;

async function fill() {
  const machines = Array.from({ length: 14 }, (_, i) => (i === 5 ? stands(i, 5, 'Used=[Cpus=0];Words="the disk of work is full"') : i === 7 ? stands(i, 4, 'Used=[Cpus=0]') : stands(i, 2, `Used=[Cpus=${(16 << (i % 3)) - 2 * (i % 4)};Memory=${(40 << (i % 3)) * GIB};GpuCount=${i % 3 ? 3 : 0}]`)));
  await ask('/v1/ads', { method: 'POST', headers: type, body: machines.join('\n') });
  await ask('/v1/shares', { method: 'PUT', headers: type, body: '[Limits=[matlab=0]]' });
  for (const [user, count, more] of [['alice', 8, ''], ['bob', 30, ''], ['carol', 12, ''], ['dave', 1, 'ConcurrencyLimits="matlab";']]) {
    const made = await (await ask('/v1/tokens', { method: 'POST', body: JSON.stringify({ Subject: user, Scope: 'ad:read ad:write' }), headers: { 'Content-Type': 'application/json' } })).json();
    await ask(`/v1/ads/${user}`, { method: 'PUT', token: made.Token, headers: { ...type, 'Berth-Agent': user }, body: `[Type="Job";Name="${user}";Count=${count};${more}Lifetime=600;Constraint=other.Cpus >= 64 && other.Memory >= 100G]` });
  }
}

async function submit(desk, ads) {
  const [{ First }] = await (await ask(`/v1/desk/${desk}/jobs?key=${Math.random()}&force`, { method: 'POST', headers: type, body: ads })).json();
  return First;
}

try {
  await fill();
  const [{ Agent: desk }] = await (await ask('/v1/desks')).json(), small = 'RequestMemory = 16M; RequestDisk = 8M; Outputs = {}';
  const job = await submit(desk, `[ Cmd = "/bin/sh"; Args = { "-c", "for i in 1 2 3 4 5 6; do echo sample $i: mean 0.49$i; sleep 2; done" }; ${small} ]`);
  const dag = `Dag = "night"; ${small}`, frames = Array.from({ length: 9 }, (_, i) => `[ Node = "frame${i}"; After = { "fetch" }; Cmd = "${i === 4 ? 'false' : 'true'}"; ${dag} ]`).join('\n');
  const flow = await submit(desk, `[ Node = "fetch"; Cmd = "true"; ${dag} ]\n${frames}\n[ Node = "calibrate"; After = { "fetch" }; Cmd = "true"; ${dag} ]\n[ Node = "stack"; After = { "calibrate", "frame1", "frame4" }; Cmd = "true"; ${dag} ]\n[ Node = "plot"; After = { "stack" }; Cmd = "true"; ${dag} ]\n[ Node = "check"; After = { "calibrate" }; Cmd = "true"; ${dag} ]`);
  await until(async () => (await (await ask(`/v1/desk/${desk}/history?constraint=Job==${job}`)).json()).length === 1);
  await until(async () => (await (await ask(`/v1/desk/${desk}/workflows`)).json())[0]?.Stuck === 2);
  const page = await (await browser.newContext({ viewport: { width: 1000, height: 700 }, deviceScaleFactor: 0.7 })).newPage();
  await page.addInitScript((kept) => sessionStorage.setItem('berth.token', kept), pool.owner);
  const shot = async (name, where, there) => {
    await page.goto(`${pool.url}/#/${where}`);
    await page.reload();
    await page.locator(there).first().waitFor();
    await page.locator('.link.live').waitFor();
    await page.waitForTimeout(2500);
    await page.screenshot({ path: join(folder, `${name}.png`) });
  };
  await page.waitForTimeout(30_000); // a chart of more than a moment
  await shot('home', 'home', '.attend li');
  await shot('job', `job/${desk}/${job}`, '.output');
  await shot('workflow', `workflow/${desk}/${flow}`, '.graph .box');
} finally {
  await browser.close();
  await pool.stop();
}
