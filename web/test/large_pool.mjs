// large_pool.mjs: plays a pool of any size behind the interface that the page asks: machines, jobs, workflows and use are reckoned from their numbers, not
// kept, so that 100,000 machines and a million jobs cost nothing here. Its stream brings news every second, as many rows as the matchmaker would send.
import http from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';
import { policy } from './server.mjs';

const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8', '.svg': 'image/svg+xml' };
const GIB = 2 ** 30, DESK = '00000000000000d1', NEWS = 1000, ROWS = 20;
const users = Array.from({ length: 40 }, (_, i) => `user${i}`), states = ['Busy', 'Part', 'Idle', 'Busy', 'Part', 'Busy', 'Owner', 'Busy'];

/** A number that looks like chance, always the same for the same two. */
const mixed = (n, salt = 0) => {
  let x = Math.imul(n + 1, 0x9e3779b1) ^ Math.imul(salt + 7, 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 15), 0x2c1b3c6d);
  return (x ^ (x >>> 13)) >>> 0;
};
const word = (n) => n.toString(16).padStart(16, '0');
const letters = (n) => [...n.toString(26)].map((digit) => String.fromCharCode(97 + parseInt(digit, 26))).join('');

const stateOf = (i) => (i % 997 === 5 ? 'Sick' : i % 991 === 6 ? 'Away' : i % 983 === 7 ? 'Drained' : states[mixed(i) % states.length]);

function machine(i, now) {
  const Cpus = 8 << (mixed(i, 1) % 4), State = stateOf(i), used = State === 'Busy' ? Cpus : State === 'Part' ? Cpus / 2 : 0, each = Math.max(1, used / 8);
  const Parts = Array.from({ length: used / each }, (_, k) => ({ User: users[mixed(i, k) % users.length], Cpus: each, Memory: each * GIB }));
  return {
    Name: `node${String(i).padStart(6, '0')}`, Type: 'Machine', State, Pulls: false, Since: 60 + ((mixed(i, 2) + now) % 86400), Heard: (mixed(i, 3) + now) % 60, Cpus, CpusUsed: used, Memory: Cpus * 4 * GIB,
    MemoryUsed: used * GIB, Disk: 10 ** 12, DiskUsed: 0, GpuCount: i % 4 ? 0 : 4, GpusUsed: i % 4 ? 0 : i % 5, LoadAvg: used + (mixed(i, now) % 10) / 10, Jobs: Parts.length,
    ...(State === 'Busy' ? { Ends: mixed(i, 4) % 7200 } : {}), ...(State === 'Sick' ? { Words: 'the disk of work is full' } : {}), Id: word(i + 1), Agent: word(i + 1), Owner: `machine/node${i}`, Parts,
  };
}

const jobStates = ['Running', 'Running', 'Waiting', 'Waiting', 'Waiting', 'Held', 'Ready', 'Running'];
function job(id, at, over) {
  const State = over ? 'Done' : jobStates[mixed(id) % jobStates.length], failed = over && mixed(id) % 10 === 0;
  return {
    Type: 'Job', Job: id, Cmd: './analyse', Args: ['--threads', '4', `sample-${id}.dat`, '--reference', 'genome.fa'], State, Owner: users[mixed(id, 1) % users.length], Submitted: at - 86400 + (id % 80000),
    Started: State === 'Running' || over ? at - 3600 + (id % 3000) : undefined, Provider: State === 'Running' || over ? `node${mixed(id) % 100000}` : undefined, Reason: State === 'Held' ? 'the input file sample.dat is not there' : undefined,
    Tries: 1, RequestCpus: 4, RequestMemory: 4 * GIB, RequestDisk: GIB, Constraint: 'other.Type == "Machine" && other.Arch == "X86_64" && other.OpSys == "LINUX" && other.Memory >= self.RequestMemory', Rank: 'other.Mips',
    Outputs: ['out.dat', 'log.txt'], Inputs: Array.from({ length: 6 }, (_, i) => ({ Name: `part${i}.dat`, Hash: word(id * 7 + i).repeat(4), Size: 123456, Mode: 420 })), Env: { OMP_NUM_THREADS: '4', LANG: 'C.UTF-8' },
    ...(over ? { Ended: at - (id % 3600), Outcome: failed ? 'Failed' : 'Succeeded', ExitCode: failed ? 1 : 0, WallUsed: 60 + (mixed(id) % 9000) } : {}),
  };
}

/** Nodes of a workflow: a first one, then many with numbers, which are one box, and many with names of their own, which are not. */
const nodeName = (k) => (k === 0 ? 'first' : k % 2 ? `frame${k}` : `step ${letters(k)}`);
const node = (k, at) => ({ ...job(k + 1, at), Workflow: 1, Node: nodeName(k), After: k === 0 ? [] : k < 50 ? ['first'] : [nodeName(k - 40 - (mixed(k) % 9)), nodeName(Math.floor(k / 2))] });

export async function largePool({ machines = 100_000, jobs = 1_000_000, nodes = 20_000, dist }) {
  let now = 0;
  const asked = {}, streams = new Set();
  const overview = () => {
    const of = Object.fromEntries(['Idle', 'Part', 'Busy', 'Owner', 'Drained', 'Sick', 'Away'].map((state) => [state, Math.floor(machines / 7)]));
    return {
      Counted: now, Offers: machines, Requests: 4000, Waiting: Math.floor(jobs / 2) - now, Claims: machines * 4 + now, Matches: machines * 40 + now * 10, Cycles: now, Agents: machines + 41,
      Kinds: [{ Kind: 'Machine', Offers: machines, Parted: 0 }], Outcomes: ['waiting', 'matched', 'nobody', 'gave-up', 'held'].map((Outcome) => ({ Outcome, Requests: 800, Units: Math.floor(jobs / 10) })),
      Machines: { Known: machines, ...of, Cpus: machines * 30, CpusUsed: machines * 20 + (now % 1000), Memory: machines * 120 * GIB, MemoryUsed: machines * 60 * GIB, Disk: machines * 1e12, DiskUsed: machines * 1e11, GpuCount: machines, GpusUsed: machines / 2 },
    };
  };
  const match = (k) => ({ Request: `request${k % 4000}`, Offer: word(k), Owner: users[k % users.length], Provider: `machine/node${k % machines}`, Gang: word(k), Claim: word(k + 2 ** 40), Age: 0 });
  const claim = (k, Age = 0) => ({ Claim: word(k + 2 ** 40), Gang: word(k), Owner: users[k % users.length], Provider: `machine/node${k % machines}`, State: k % 3 ? 'over' : 'active', Used: Math.min(Age, 600 + (mixed(k) % 1200)), Age });
  const range = (query, all, row, most = 1000) => {
    const from = Number(query.get('cursor') ?? 0), limit = Math.min(most, Number(query.get('limit') ?? most)), rows = [];
    for (let i = from; i < Math.min(all, from + limit); i++) rows.push(row(i));
    return { rows, next: from + limit < all ? from + limit : null };
  };
  /** Those whose state the constraint names; each is looked for, as a matchmaker would. */
  const some = (query) => {
    const wanted = [...(query.get('constraint') ?? '').matchAll(/State == "(\w+)"/g)].map((found) => found[1]), limit = Number(query.get('limit') ?? 1000), rows = [];
    let i = Number(query.get('cursor') ?? 0);
    for (; i < machines && rows.length < limit; i++) if (!wanted.length || wanted.includes(stateOf(i))) rows.push(machine(i, now));
    return { rows, next: i < machines ? i : null };
  };
  const selected = (row, query) => {
    const names = query.get('select')?.split(',');
    return names ? Object.fromEntries(names.filter((name) => row[name] !== undefined).map((name) => [name, row[name]])) : row;
  };
  const at = () => Math.floor(Date.now() / 1000);
  const span = { hour: 10, day: 120, month: 3600 };
  const months = (query) => {
    const by = query.get('by') ?? 'month', each = by.includes(',month'), whose = by.split(',')[0], names = { month: 24, user: users.length, group: 30, machine: machines }[whose] ?? 1;
    return range(query, each ? names * 24 : names, (i) => ({
      ...(each || whose === 'month' ? { Month: `2026-${String((i % 12) + 1).padStart(2, '0')}` } : {}), ...(whose === 'user' ? { User: `user${i}` } : whose === 'group' ? { Group: `group${i}` } : whose === 'machine' ? { Machine: `node${i}` } : {}),
      Claims: mixed(i), Jobs: mixed(i, 1), Wall: mixed(i, 2), Cpu: mixed(i, 3), Normalised: mixed(i, 4), CpusHeld: mixed(i, 5), GpusHeld: 0, UnitsHeld: 1, Memory: 2 ** 34, BytesIn: 2 ** 40, BytesOut: 2 ** 38,
    }));
  };
  const submission = (i) => {
    const Jobs = i ? 10 : Math.max(1, jobs - 10 * 4999), First = i ? jobs + i * 10 : 1;
    return { Submission: First, Last: First + Jobs - 1, Jobs, Cmd: './analyse', Args: ['--threads', '4', `set-${i}`], Owner: users[i % users.length], Submitted: at() - i * 60, Waiting: Math.floor(Jobs * 0.4), Running: Math.floor(Jobs * 0.2), Held: 1, Succeeded: Math.floor(Jobs * 0.3) + (now % 7), Failed: 1, Removed: 0, Estimate: 7200 };
  };
  const workflow = (i) => ({ Workflow: i + 1, Dag: `night ${i}`, Owner: users[i % users.length], Submitted: at() - i * 600, Jobs: nodes, Done: Math.floor(nodes / 3), Running: 900, Waiting: 1000, Blocked: nodes - Math.floor(nodes / 3) - 1900, Stuck: 0, Failed: 0, Held: 0, Removed: 0 });
  const listOfJobs = (query, over) => {
    const constraint = query.get('constraint') ?? '', ids = /^(\d+)-(\d+)$/.exec(query.get('ids') ?? ''), first = ids ? Number(ids[1]) : 1, all = ids ? Number(ids[2]) - first + 1 : jobs;
    if (/^Workflow == /.test(constraint)) return range(query, nodes, (k) => selected(node(k, at()), query));
    const down = query.get('order')?.startsWith('-'); // as if all jobs were alike but by their numbers
    return { ...range(query, all, (i) => selected(job(down ? first + all - 1 - i : first + i, at(), over), query)), whole: over || !query.has('order') ? undefined : all <= 100_000 };
  };
  const answers = [
    [/^\/v1\/whoami$/, () => ({ Subject: 'user0', Scope: 'ad:read ad:write match config admin job:submit job:own job:any claim', Expires: at() + 3600 })],
    [/^\/v1\/overview$/, overview],
    [/^\/v1\/matches$/, (query) => range(query, 50, match)],
    [/^\/v1\/claims$/, (query) => range(query, query.has('constraint') ? 1000 : 50, (k) => claim(k, 60 + k * 80))],
    [/^\/v1\/series$/, (query) => {
      const step = span[query.get('span')] ?? 10, At = Array.from({ length: 360 }, (_, i) => at() - (360 - i) * step), line = (salt, most) => At.map((_, i) => most + (mixed(i, salt) % most));
      return { Span: query.get('span'), At, Offers: line(1, machines), Claims: line(2, machines * 4), Waiting: line(3, jobs / 2), Matches: line(4, 5000), Users: users.slice(0, 8).map((Name, u) => ({ Name, Running: line(u + 5, machines / 6), Waiting: line(u + 50, jobs / 24) })) };
    }],
    [/^\/v1\/reasons$/, () => Array.from({ length: 64 }, (_, i) => ({ Code: ['nofit', 'refuses', 'never', 'sick'][i % 4], Reason: `no machine has the library version ${i} that they ask for`, Requests: 3, Units: 1000 + i, Example: `request${i}` }))],
    [/^\/v1\/limits$/, (query) => range(query, 200, (i) => ({ Name: `limit${i}`, Most: 100, Used: i % 2 ? 100 : 50 }))],
    [/^\/v1\/groups$/, (query) => range(query, 200, (i) => ({ Name: `group${i}`, Quota: 100, Used: i, Surplus: true, Pool: machines }))],
    [/^\/v1\/users$/, (query) => range(query, 5000, (i) => ({ Name: `user${i}`, Usage: mixed(i), Factor: 1, Priority: mixed(i), Claims: i, Units: i }))],
    [/^\/v1\/usage$/, months],
    [/^\/v1\/policy$/, () => ({ RootOrder: 1 })],
    [/^\/v1\/functions$/, () => []],
    [/^\/v1\/names$/, () => []],
    [/^\/v1\/eval$/, () => ({ Value: '18', Type: 'integer', Matches: true })],
    [/^\/v1\/lint$/, () => ({ Language: 'ad', Count: 1, Findings: [], Remarks: [] })],
    [/^\/v1\/status$/, () => ({ Name: 'pool', Version: '1', Pool: 'pool', Up: 86400, Ads: machines, Agents: machines, Matches: now, Claims: now, Cycles: now, NotificationsWaiting: 0, NotificationsGivenUp: 0, Streams: 1 })],
    [/^\/v1\/ads$/, (query) => range(query, machines, (i) => ({ AdId: `ad${i}`, Name: `node${i}`, Type: i % 9 ? 'Machine' : 'Job', Cpus: 8, Memory: 8 * GIB, Constraint: 'other.Type == "Job" && other.RequestMemory <= Memory' }))],
    [/^\/v1(\/desk\/\w+)?\/audit$/, (query) => range(query, 1000, (i) => ({ Number: i + 1, Time: at() - i * 60, By: users[i % users.length], What: 'jobs.submit', About: `job ${i}`, From: '127.0.0.1', Via: word(i), Result: '201', Count: 1 }))],
    [/^\/v1\/machines$/, (query) => { const { rows, next } = some(query); return { rows: rows.map((row) => selected(row, query)), next }; }],
    [/^\/v1\/machines\/node(\d+)$/, (query, i) => {
      const one = machine(Number(i), now);
      return { ...one, Claims: one.Parts.map((part, k) => ({ Claim: word(k + 1), Owner: part.User, Job: mixed(k), Age: 600 + k, Ends: 7200, Cpus: part.Cpus })), Ad: { Type: 'Machine', Name: one.Name, Cpus: one.Cpus, Constraint: 'other.Type == "Job"' } };
    }],
    [/^\/v1\/desks$/, () => [{ Agent: DESK, Name: 'customer', Identity: 'user0' }]],
    [/^\/v1\/desk\/\w+\/submissions$/, (query) => range(query, 5000, submission)],
    [/^\/v1\/desk\/\w+\/workflows$/, (query) => range(query, 300, workflow)],
    [/^\/v1\/desk\/\w+\/jobs$/, (query) => listOfJobs(query, false)],
    [/^\/v1\/desk\/\w+\/history$/, (query) => listOfJobs(query, true)],
    [/^\/v1\/desk\/\w+\/summary$/, () => ({ Total: jobs, Waiting: Math.floor(jobs * 0.4), Ready: 0, Scheduled: 0, Running: Math.floor(jobs * 0.2) + (now % 9), Held: 500, Done: Math.floor(jobs * 0.3), Failed: 9, Aborted: 0, Cancelled: 0, Blocked: 0, Changes: now })],
  ];

  const timer = setInterval(() => {
    now++;
    const rows = Array.from({ length: ROWS / 2 }, (_, i) => [`event: match\ndata: ${JSON.stringify(match(now * 10 + i))}\n\n`, `event: claim\ndata: ${JSON.stringify(claim(now * 10 + i))}\n\n`]).flat().join('');
    const desk = `event: desk\ndata: ${JSON.stringify({ Type: 'DeskNews', Agent: DESK, Changes: now })}\n\n`;
    for (const stream of streams) stream.write(`event: overview\ndata: ${JSON.stringify(overview())}\n\n${rows}${desk}`);
  }, NEWS);

  const server = http.createServer(async (req, res) => {
    const url = new URL(req.url, 'http://here'), path = url.pathname;
    if (path === '/v1/watch') {
      res.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(': hello\n\n');
      streams.add(res);
      return void res.on('close', () => streams.delete(res));
    }
    for (const [pattern, answer] of answers) {
      const found = pattern.exec(path);
      if (!found) continue;
      const key = path.replace(/node\d+|[0-9a-f]{16}/, '*');
      asked[key] = (asked[key] ?? 0) + 1;
      const told = answer(url.searchParams, found[1]);
      res.setHeader('Content-Type', 'application/json');
      const rows = told.rows ?? told, text = JSON.stringify(rows);
      if (told.whole !== undefined) res.setHeader('Berth-Whole', String(told.whole));
      if (told.next) res.setHeader('Berth-Cursor', String(told.next));
      return void res.end(text);
    }
    if (path.startsWith('/v1')) return void res.writeHead(404, { 'Content-Type': 'application/problem+json' }).end(JSON.stringify({ title: 'Not Found', status: 404, detail: `${path} is not played` }));
    const name = path === '/' ? 'index.html' : normalize(path).slice(1), bytes = await readFile(join(dist, name)).catch(() => null);
    if (!bytes) return void res.writeHead(404).end();
    return void res.writeHead(200, { 'Content-Type': types[extname(name)] ?? 'application/octet-stream', 'Content-Security-Policy': policy }).end(bytes);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    desk: DESK,
    asked, // how often what was asked
    close: () => new Promise((resolve) => (clearInterval(timer), server.closeAllConnections(), server.close(resolve))),
  };
}
