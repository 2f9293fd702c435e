// issuer.mjs: an institute on loopback that one can sign in by: it asks nobody, and says that it was alice.
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import http from 'node:http';

const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

export async function issuerStart() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const begun = new Map();
  let url = '', refuses = false;
  const say = (res, value, status = 200) => res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));
  const tokenOf = ({ nonce, client_id: aud }) => {
    const now = Math.floor(Date.now() / 1000);
    const text = `${part({ alg: 'ES256', kid: 'k' })}.${part({ iss: url, sub: 'alice', aud, nonce, iat: now, exp: now + 300 })}`;
    return `${text}.${sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
  };
  const server = http.createServer(async (req, res) => {
    const at = new URL(req.url, url);
    if (at.pathname === '/.well-known/openid-configuration') return say(res, { issuer: url, jwks_uri: `${url}/keys`, authorization_endpoint: `${url}/authorize`, token_endpoint: `${url}/token` });
    if (at.pathname === '/keys') return say(res, { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k' }] });
    if (at.pathname === '/authorize') {
      const asked = Object.fromEntries(at.searchParams), back = new URL(asked.redirect_uri), code = `code-${begun.size}`;
      begun.set(code, asked);
      for (const [name, value] of Object.entries({ state: asked.state, ...(refuses ? { error: 'access_denied' } : { code }) })) back.searchParams.set(name, value);
      return res.writeHead(302, { Location: back.href }).end();
    }
    let body = '';
    for await (const piece of req) body += piece;
    const form = new URLSearchParams(body), asked = begun.get(form.get('code'));
    if (!asked || createHash('sha256').update(form.get('code_verifier') ?? '').digest('base64url') !== asked.code_challenge) return say(res, { error: 'invalid_grant' }, 400);
    return say(res, { id_token: tokenOf(asked), access_token: 'x', token_type: 'Bearer' });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${server.address().port}`;
  return {
    setting: `{ [ Issuer = "${url}"; Name = "idp"; Plain = true; Audience = "x"; Client = "page"; Title = "the institute"; KeysPause = 1; Scopes = "ad:read match" ] }`,
    refuse: (value) => (refuses = value),
    stop: () => new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); }),
  };
}
