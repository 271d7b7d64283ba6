/**
 * The floor for tokens: the bare HTTP engine. With `sign`, it parses each form and signs once with ES256. With
 * `verify`, it verifies one signature for each header. Both use a thread of the engine's pool. `bun
 * bench/floor-tokens.ts sign|verify` prints `floor ready http=HOST:PORT`.
 */
import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { promisify } from 'node:util';

const signAside = promisify(sign);
const verifyAside = promisify(verify);
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const dsaEncoding = 'ieee-p1363';

/** The input has the length of a token's header, claims and signature. */
const input = Buffer.alloc(500, 'x');
const signature = sign('sha256', input, { key: privateKey, dsaEncoding });

async function signOne(request: Request): Promise<Response> {
  const form = new URLSearchParams(await request.text());
  const made = await signAside('sha256', input, { key: privateKey, dsaEncoding });
  return Response.json({ access_token: `${input}.${made.toString('base64url')}`, scope: form.get('scope') });
}

async function verifyOne(request: Request): Promise<Response> {
  const authorization = request.headers.get('authorization');
  const good = await verifyAside('sha256', input, { key: publicKey, dsaEncoding }, signature);
  return Response.json({ items: [] }, { status: good && authorization !== null ? 200 : 401 });
}

const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: process.argv[2] === 'sign' ? signOne : verifyOne });

process.stdout.write(`floor ready http=${server.hostname}:${server.port}\n`);
