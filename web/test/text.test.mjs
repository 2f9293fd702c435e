// text.test.mjs: the text of ads is taken apart and edited without harm to what it says; the types of all sources agree.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { buildSync } from 'esbuild';

const built = buildSync({ stdin: { contents: "export * from './adtext'; export * from './edits'; export * from './route'; export * from './blake2b'; export { inputsWrite } from './inputs'; export { customerless } from './words'; export { adAgain } from './again'; export { wordsOf } from './shellwords'; export { piecesOf } from './pieces'; export { branchOf, graphMake } from './graph'; export { plannedOf } from './jobwords'; export { plannedSaid, span, spanSaid } from './format'; export { inTurn } from './turns'", resolveDir: new URL('../src', import.meta.url).pathname }, bundle: true, format: 'esm', write: false });
globalThis.location = { hash: '' };
globalThis.addEventListener = () => {};
globalThis.sessionStorage = { getItem: () => null };
const { adAgain, branchOf, inTurn, piecesOf, graphMake, wordsOf, adLayOut, attributesOf, Blake2b, customerless, inputsWrite, cut, editMake, plannedOf, plannedSaid, portFind, routeLink, routeRead, span, spanSaid } = await import(`data:text/javascript,${encodeURIComponent(built.outputFiles[0].text)}`);

const tokens = (text) => text.match(/"(?:[^"\\]|\\.)*"|'[^']*'|[^\s]/g).join('').replace(/;\]/g, ']');

test('the types of the sources agree', () => {
  const checked = spawnSync(process.execPath, ['test/node_modules/typescript/bin/tsc', '--noEmit'], { cwd: new URL('..', import.meta.url), encoding: 'utf8' });
  assert.equal(checked.status, 0, checked.stdout + checked.stderr);
});

test('an ad is laid out without changing a token', () => {
  const long = 'x'.repeat(70);
  for (const ad of [
    '[]', '[ a = 1 ]', '[ a = 1; b = "; ] } // \\" [" ; c = { 1, 2 } ]',
    `[ Name = "${long}"; Constraint = other.A == "&& [" && (other.B || other.C == '1:00') && other.D > 1; Ports = { [ Label = cpu; Constraint = cpu.Text == "${long}" ], [ Label = "b" ] } ]`,
    `[ R = a == "${long}" || b == "${long}" && c ? { [ x = 1 ], "${long}" } : error ]`,
  ]) {
    assert.equal(tokens(adLayOut(ad)), tokens(ad));
    assert.equal(adLayOut(adLayOut(ad)), adLayOut(ad));
  }
});

test('attributes are found whatever stands in strings and comments', () => {
  const ad = '// [ x = 1 ]\n[ a /* ; */ = "]"; B = [ c = 2; d = "{" ]; e = { 1, "," } ]';
  const names = attributesOf(ad).map(({ name, value }) => [name.split(' ')[0], cut(ad, value)]);
  assert.deepEqual(names, [['a', '"]"'], ['B', '[ c = 2; d = "{" ]'], ['e', '{ 1, "," }']]);
});

test('a span is compact where it stands alone, and as one says it amid words', () => {
  const rows = [[-3, '0s', '0 s'], [59.9, '59s', '59 s'], [60, '1m00s', '60 s'], [192, '3m12s', '3 min'], [3600, '1h00m', '60 min'], [18180, '5h03m', '5 h'], [86400, '1d00h', '24 h'], [370800, '4d07h', '4 days'], [0.25, '0s', '250 ms']];
  for (const [seconds, alone, said] of rows) assert.deepEqual([span(seconds), spanSaid(seconds)], [alone, said]);
});

test('what is planned has its time of day, and the day when that is not today', () => {
  const noon = new Date(2026, 10, 19, 12, 0, 30).getTime() / 1000;
  assert.deepEqual([5, 90, 8400, 12 * 3600].map((seconds) => plannedSaid(seconds, noon)), ['now', '12:02', '14:20', '2026-11-20 00:00']);
});

const clauses = (...texts) => texts.map((text, clause) => ({ clause, text, attribute: 'Constraint' }));

test('a clause is changed where it stands, and nowhere else', () => {
  const ad = '[ Note = "other.A > 1"; Constraint = other.AA > 1 && (other.A > 1 && other.B) ]';
  const made = editMake(ad, [{ kind: 'clause', clause: 1, from: 'other.A > 1', to: 'other.A > 0' }], clauses('other.AA > 1', 'other.A > 1', 'other.B'));
  assert.equal(made.text, '[ Note = "other.A > 1"; Constraint = other.AA > 1 && (other.A > 0 && other.B) ]');
  assert.deepEqual(made.marks.map((mark) => cut(made.text, mark)), ['other.A > 0']);
});

test('clauses are left out, attributes changed and added, several at once', () => {
  const ad = '[ Constraint = other.A && other.B; Size = 5 ]';
  const made = editMake(ad, [
    { kind: 'attribute', attribute: 'size', from: '5', to: '3' },
    { kind: 'drop', clause: 0, from: 'other.A', to: null },
    { kind: 'attribute', attribute: 'New', from: null, to: '"x"' },
  ], clauses('other.A', 'other.B'));
  assert.equal(made.text, '[ Constraint = true && other.B; Size = 3; New = "x" ]');
  assert.equal(editMake(ad, [{ kind: 'clause', clause: 0, from: 'other.C', to: '1' }], clauses('other.C')), null);
});

test('a port of a gang is found also in a group, and only it is changed', () => {
  const ad = '[ Ports = { [ Label = cpu; Constraint = cpu.A ], [ Choose = 1; Ports = { [ Label = "Lic"; Constraint = lic.A && cpu.A ] } ] }; Constraint = cpu.A ]';
  assert.match(cut(ad, portFind(ad, 'lic')), /^\[ Label = "Lic"/);
  const made = editMake(ad, [{ kind: 'clause', clause: 1, from: 'cpu.A', to: 'cpu.B' }], clauses('lic.A', 'cpu.A'), 'lic');
  assert.equal(made.text, '[ Ports = { [ Label = cpu; Constraint = cpu.A ], [ Choose = 1; Ports = { [ Label = "Lic"; Constraint = lic.A && cpu.B ] } ] }; Constraint = cpu.A ]');
  assert.equal(editMake(ad, [], [], 'gone'), null);
  assert.equal(editMake('[ Constraint = other.A ]', [{ kind: 'clause', clause: 0, from: 'other.A', to: 'other.B' }], clauses('other.A'), 'other').text, '[ Constraint = other.B ]');
});

test('addresses are written and read back', () => {
  const link = routeLink(['ad', 'a b/c%'], { constraint: 'x == "?&#"', none: '' });
  const { path, query } = routeRead(link);
  assert.deepEqual(path, ['ad', 'a b/c%']);
  assert.equal(query.get('constraint'), 'x == "?&#"');
  assert.deepEqual(routeRead('#/ad/%E0%A4%A').path, ['ad', '%E0%A4%A']);
});

test('a file has the name that b2sum gives it, whatever its length and pieces', () => {
  const name = (bytes, piece) => {
    const hashing = new Blake2b();
    for (let at = 0; at < bytes.length; at += piece) hashing.add(bytes.subarray(at, at + piece));
    return hashing.end();
  };
  const known = [ // b2sum -l 256 of so many bytes, the i-th of them i * 7 modulo 256
    [0, '0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8'],
    [1, '03170a2e7597b7b7e3d84c05391d139a62b157e78786d8c082f29dcf4c111314'],
    [127, '4ff62e7c4c43fe101a078479c48836be4907d9d498dcc577ca89d694b2c11f9b'],
    [128, '14696d2a98d9f8a280da8b132b1045b345e1033759c6b02fcc4ee885c8ae7c37'],
    [129, '3934215260b1039be9d9d2b073b059bcd50120c327a22af93eb4d98cf821c14c'],
    [1000, '6ac4bea923678eb024090384d6e767b5870f849057dc19b172d8d9f2df30bf8e'],
  ];
  for (const [length, digits] of known) for (const piece of [1, 37, 128, 4096]) assert.equal(name(Uint8Array.from({ length }, (_, i) => i * 7), piece), digits);
});

test('files are written into each ad, and not into one that has its own', () => {
  const inputs = [{ name: 'a "b".txt', hash: 'ff', size: 3, runs: false }, { name: 'run', hash: '00', size: 1, runs: true }];
  const said = 'Inputs = { [ Name = "a \\"b\\".txt"; Hash = "ff"; Size = 3; Mode = 420 ], [ Name = "run"; Hash = "00"; Size = 1; Mode = 493 ] }';
  assert.equal(inputsWrite('[ Cmd = "]"; ]\n// [ x ]\n[]', inputs), `[ Cmd = "]"; ${said}; ]\n// [ x ]\n[ ${said}]`);
  assert.equal(inputsWrite('[ Cmd = "x"; inputs = {} ]', inputs), null);
});

test('a job that is planned says when and where, and no other does', () => {
  const soon = Date.now() / 1000 + 10;
  assert.equal(plannedOf({ State: 'Waiting', PlannedStart: soon, PlannedMachine: 'heron' }), 'planned for about now on heron');
  assert.match(plannedOf({ State: 'Waiting', PlannedStart: soon + 7200 }), /^planned for about .*\d\d:\d\d$/);
  assert.equal(plannedOf({ State: 'Running', PlannedStart: soon, PlannedMachine: 'heron' }), undefined);
  assert.equal(plannedOf({ State: 'Waiting' }), undefined);
});

test('who has no customer to go to is told why, and what to type', () => {
  const heron = { Identity: 'alice', Name: 'desk.customer', Host: 'desk', Contact: 'https://10.0.0.8:7601', ContactState: 'bad' };
  assert.match(customerless('alice', [heron]).why, /cannot call your customer desk\.customer at https:\/\/10\.0\.0\.8:7601/);
  assert.match(customerless('alice/laptop', [heron]).why, /cannot call your customer/);
  assert.match(customerless('alice', [{ ...heron, ContactState: 'checking' }]).why, /has just come/);
  assert.match(customerless('alice', [{ ...heron, Contact: undefined, ContactState: 'none' }]).why, /listens nowhere/);
  const bob = customerless('bob', [{ ...heron, ContactState: 'good' }]);
  assert.match(bob.why, /desk\.customer \(alice\)/);
  assert.deepEqual(bob.steps.map(({ command }) => command), ['berth token code --customer bob', 'berth join CODE']);
  assert.match(customerless('bob', []).why, /^No customer has come/);
});

test('a job is run again without what its customer has added, and with all else', () => {
  assert.equal(adAgain('[ Cmd = "a;b"; Args = { "x" }; Owner = "alice"; Job = 7; submitted = 17; LastClaim = "00"; RequestMemory = 1G ]'), '[ Cmd = "a;b"; Args = { "x" }; RequestMemory = 1G ]');
  const source = process.env.BERTH_SOURCES ?? new URL('../..', import.meta.url).pathname, list = /ours\[\] = \{([^}]*)\}/.exec(readFileSync(`${source}/src/live/customerd/job_ad.c`, 'utf8'))[1];
  const ad = `[ Cmd = "true"; ${[...list.matchAll(/"(\w+)"/g)].map(([, name]) => `${name} = 1`).join('; ')} ]`;
  assert.equal(adAgain(ad), '[ Cmd = "true" ]');
});

test('a command is taken apart as a shell would, and nothing is filled in', () => {
  assert.deepEqual(wordsOf('./a --n 4  "my data.csv" \'$HOME "x"\' "a\\"b" c\\ d ""'), ['./a', '--n', '4', 'my data.csv', '$HOME "x"', 'a"b', 'c d', '']);
  assert.deepEqual(wordsOf('  '), []);
});

const node = (name, after = [], state = 'wait') => ({ name, after, state });

test('a workflow is laid out in layers, many alike as one, and what waits in a circle is there too', () => {
  const nodes = [node('prepare'), ...Array.from({ length: 8 }, (_, i) => node(`frame${i}`, ['prepare'], i ? 'good' : 'bad')), node('join', Array.from({ length: 8 }, (_, i) => `frame${i}`)), node('x', ['y']), node('y', ['x']), node('lone', ['nobody'])];
  const graph = graphMake(nodes, new Set()), box = (name) => graph.boxes.find((one) => one.names.includes(name));
  assert.deepEqual([box('prepare').layer, box('frame3').layer, box('join').layer, box('lone').layer], [0, 1, 2, 0]);
  assert.deepEqual([box('frame3').label, box('frame3').counts], ['frame… × 8', { bad: 1, good: 7 }]);
  assert.ok(box('x') && box('y') && new Set(graph.boxes.map(({ layer, row }) => `${layer} ${row}`)).size === graph.boxes.length);
  assert.equal(graphMake(nodes, new Set([box('frame3').key])).boxes.length, nodes.length);
  assert.deepEqual(branchOf(nodes, 'frame3').sort(), ['frame3', 'join']);
});

test('ten thousand nodes are laid out at once', () => {
  const nodes = Array.from({ length: 10_000 }, (_, i) => node(`n${i}`, i < 100 ? [] : [`n${i - 100}`, `n${i - 99}`])), began = Date.now();
  assert.ok(graphMake(nodes, new Set()).boxes.length < 1000);
  assert.ok(Date.now() - began < 2000, `${Date.now() - began} ms`);
});

test('an expression is taken apart into what has a value of its own, the smallest first', () => {
  const texts = (text) => piecesOf(text).map((piece) => piece.text);
  assert.deepEqual(texts('other.Memory >= Size * 2 && !f(A, 1)'), ['other.Memory', 'Size', 'Size * 2', 'other.Memory >= Size * 2', 'A', 'f(A, 1)', '!f(A, 1)', 'other.Memory >= Size * 2 && !f(A, 1)']);
  assert.deepEqual(texts('A is undefined ? "x ? y" : L[1] + (B - -C)'), ['A', 'A is undefined', 'L', 'L[1]', 'B', 'C', '-C', 'B - -C', 'L[1] + (B - -C)', 'A is undefined ? "x ? y" : L[1] + (B - -C)']);
  assert.deepEqual(['', '1 +', 'A B', '"', '[ a = 1 ]'].map(texts), [[], [], [], [], []]);
});

test('what is done in turn has a frame for each turn, also what a turn asks for and what comes after a fault', () => {
  let timers = [], frames = [];
  globalThis.window = { setTimeout: (what) => timers.push(what) };
  globalThis.document = { hidden: false, documentElement: { offsetHeight: 0 } };
  globalThis.requestAnimationFrame = (what) => frames.push(what);
  const done = [], steps = (name, n) => () => { done.push(name); if (n > 1) inTurn(steps(name, n - 1)); };
  inTurn(steps('a', 3));
  inTurn(steps('b', 3));
  inTurn(() => { done.push('fault'); throw new Error('of one turn'); });
  inTurn(steps('c', 2));
  const seen = [];
  for (let frame = 0; frame < 12; frame++) {
    const before = done.length, shown = frames;
    frames = [];
    for (const what of shown) what();
    const due = timers;
    timers = [];
    for (const what of due) try { what(); } catch (error) { assert.equal(error.message, 'of one turn'); }
    seen.push(done.length - before);
  }
  assert.ok(seen.every((n) => n <= 1), `turns in each frame: ${seen}`);
  assert.deepEqual(done, ['a', 'b', 'fault', 'c', 'a', 'b', 'c', 'a', 'b']);
  assert.equal(frames.length + timers.length, 0); // nothing goes on by itself
});
