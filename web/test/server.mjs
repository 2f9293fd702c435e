// server.mjs: stands between a browser and a pool: serves dist under the page's Content-Security-Policy where the pool does not, carries all else to it,
// and can cut event streams. What a pool does not have yet (the session, desks, the stream) it answers itself, from the pool's other routes.
import http from 'node:http';
import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { extname, join, normalize } from 'node:path';

const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8', '.svg': 'image/svg+xml' };
export const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const ask = (options, body) =>
  new Promise((resolve, reject) => {
    const out = http.request(options, resolve);
    out.on('error', reject);
    out.end(body);
  });

const whole = async (stream) => {
  const parts = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts);
};

const claims = (token) => JSON.parse(Buffer.from(token.split('.')[2], 'base64url').subarray(0, -64).toString());

export async function serve({ pool, dist, socket, port = 0, codes = {} }) {
  const { hostname, port: poolPort } = new URL(pool);
  const streams = new Set();
  let refuse = false;

  const carry = (req, body) => {
    const headers = { ...req.headers, host: `${hostname}:${poolPort}` };
    delete headers.origin;
    delete headers.connection;
    return ask({ hostname, port: poolPort, path: req.url, method: req.method, headers }, body);
  };
  const pass = (answer, res) => {
    const { connection, 'keep-alive': kept, 'transfer-encoding': coding, ...headers } = answer.headers;
    res.writeHead(answer.statusCode, headers);
    answer.pipe(res);
    res.on('close', () => answer.destroy()); // who left does not keep a stream open
  };
  const say = (res, status, value) => {
    res.writeHead(status, { 'Content-Type': status < 400 ? 'application/json' : 'application/problem+json' });
    res.end(JSON.stringify(value));
  };

  const stand = {
    '/v1/whoami': (req, res, token) => {
      const { sub, scope, exp } = claims(token);
      say(res, 200, { Subject: sub, Scope: scope, Expires: exp });
    },
    '/v1/session': (req, res, token, body) => {
      const code = JSON.parse(body).Code, got = codes[code];
      delete codes[code];
      if (!got) return say(res, 403, { title: 'Forbidden', status: 403, detail: 'the code is not good, or was used' });
      const { sub, scope, exp } = claims(got);
      say(res, 200, { Token: got, Subject: sub, Scope: scope, Expires: exp });
    },
    '/v1/desks': (req, res) => say(res, 200, [{ Agent: '00000000000000d1', Name: 'customer', Identity: 'root' }]),
    '/v1/watch': async (req, res) => {
      res.writeHead(200, { 'Content-Type': 'text/event-stream' });
      res.write(': hello\n\n');
      const seen = new Set();
      const tell = async () => {
        for (const [path, event, key] of [['/v1/overview', 'overview'], ['/v1/matches?limit=50', 'match', 'Claim'], ['/v1/claims?limit=50', 'claim', 'Claim']]) {
          const found = JSON.parse(await whole(await carry({ url: path, method: 'GET', headers: { authorization: req.headers.authorization, accept: 'application/json' } })));
          for (const row of [found].flat()) {
            const mark = key && `${event} ${row[key]} ${row.State}`;
            if (mark && seen.has(mark)) continue;
            seen.add(mark);
            res.write(`event: ${event}\ndata: ${JSON.stringify(row)}\n\n`);
          }
        }
      };
      const timer = setInterval(() => tell().catch(() => res.destroy()), 1000);
      res.on('close', () => clearInterval(timer));
      await tell();
    },
  };

  async function desk(req, res, body) {
    const path = req.url.replace(/^\/v1\/desk\/[^/]+/, '/v1');
    const headers = { ...req.headers, host: 'customer' };
    delete headers.authorization;
    delete headers.origin;
    delete headers.connection;
    pass(await ask({ socketPath: socket, path, method: req.method, headers }, body), res);
  }

  async function file(res, path) {
    const name = path === '/' ? 'index.html' : normalize(path).slice(1);
    const bytes = await readFile(join(dist, name)).catch(() => null);
    if (!bytes) return res.writeHead(404).end();
    res.writeHead(200, { 'Content-Type': types[extname(name)] ?? 'application/octet-stream', 'Content-Security-Policy': policy, 'X-Content-Type-Options': 'nosniff', 'Cache-Control': name === 'index.html' ? 'no-cache' : 'max-age=31536000, immutable' });
    res.end(bytes);
  }

  const probe = await ask({ hostname, port: poolPort, path: '/', headers: { host: `${hostname}:${poolPort}`, accept: 'text/html', 'accept-encoding': 'gzip' } });
  const bytes = await whole(probe), front = String(probe.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes);
  const own = process.env.PAGE_FROM === 'dist' || !(probe.statusCode === 200 && front.includes('/assets/'));

  const server = http.createServer(async (req, res) => {
    try {
      const path = req.url.split('?')[0];
      if (own && (path === '/' || path.startsWith('/assets/'))) return await file(res, path);
      const body = await whole(req), watching = path === '/v1/watch';
      if (watching) {
        if (refuse) return res.destroy();
        streams.add(res);
        res.on('close', () => streams.delete(res));
      }
      const answer = await carry(req, body);
      const token = req.headers.authorization?.slice(7);
      const lost = answer.statusCode === 404 && (stand[path] || path.startsWith('/v1/desk/')) ? await whole(answer) : null;
      const absent = lost && String(lost).includes('there is nothing here');
      if (absent && stand[path]) return await stand[path](req, res, token, body);
      if (absent) return await desk(req, res, body);
      if (lost) return res.writeHead(404, { 'Content-Type': answer.headers['content-type'] ?? 'text/plain' }).end(lost);
      if (watching) answer.on('error', () => res.destroy());
      pass(answer, res);
    } catch (error) {
      if (!res.headersSent) say(res, 503, { title: 'Unavailable', status: 503, detail: String(error) });
      else res.destroy();
    }
  });
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    own,
    cut() {
      refuse = true;
      for (const stream of streams) stream.destroy();
    },
    mend: () => (refuse = false),
    close: () => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))),
  };
}

if (process.argv[1]?.endsWith('server.mjs')) {
  const [pool, socket, port] = process.argv.slice(2);
  const { url } = await serve({ pool, socket, port: Number(port ?? 0), dist: new URL('../dist', import.meta.url).pathname });
  console.log(url);
}
