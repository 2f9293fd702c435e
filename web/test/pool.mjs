// pool.mjs: a real pool for the tests, in a folder of its own, with tokens for an administrator and for one who may only read.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

const berth = process.env.BERTH ?? new URL('../../build/berth', import.meta.url).pathname;

const freePort = () =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });

/** `settings`: of the environment, as BERTH_ISSUERS. */
export async function poolStart(settings = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'berth-page-')), state = join(folder, 'state');
  const url = `http://127.0.0.1:${await freePort()}`;
  const env = { ...process.env, ...settings, BERTH_STATE: state };
  const child = spawn(berth, ['pool', '--listen', url.slice(7), '--state', state], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stdout.on('data', (bytes) => (said += bytes));
  child.stderr.on('data', (bytes) => (said += bytes));
  for (let i = 0; i < 100 && !said.includes('is up'); i++) await new Promise((resolve) => setTimeout(resolve, 100));
  if (!said.includes('is up')) throw new Error(`the pool does not start: ${said}`);

  const run = (...words) => execFileSync(berth, words, { env, encoding: 'utf8' });
  const token = (subject, scope) => {
    const file = join(folder, `${subject}.token`);
    run('token', 'create', '--subject', subject, '--scope', scope, '--lifetime', '1h', '--no-delegation', '--out', file);
    return /Token = "([^"]+)"/.exec(readFileSync(file, 'utf8'))[1];
  };
  const all = 'ad:read ad:write match config admin job:submit job:own job:any claim';
  const others = [];
  /** Another customer, of somebody whose name that is, who lets others use it. */
  const customerAdd = async (name) => {
    const code = run('token', 'code', '--customer', name, '--serve').trim(), { BERTH_STATE: _, ...elsewhere } = env;
    others.push(spawn(berth, ['join', '--state', join(folder, name), code], { env: elsewhere, stdio: 'ignore' }));
  };
  const ended = (process) => new Promise((resolve) => { process.on('exit', resolve); process.kill('SIGTERM'); });
  return {
    url,
    customerAdd,
    said: () => said,
    socket: join(state, 'customer', 'customer.sock'),
    admin: token('ada', all),
    owner: token(userInfo().username, all), // whose customer it is
    reader: token('bob', 'ad:read'),
    async stop() {
      for (const process of [...others, child]) if (process.exitCode === null) await ended(process);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
