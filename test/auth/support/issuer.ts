import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer } from 'node:http';
import { type JWTPayload, SignJWT } from 'jose';
import { onTestFinished } from 'vitest';

/** An issuer of workload tokens: an HTTP server with a discovery document and a key set. */
export interface Issuer {
  readonly url: string;
  /** The paths of the requests so far. */
  readonly requests: string[];
  /** Replaces the signing key. */
  rotate(kid: string): void;
  /** Responses by path that replace the correct responses. Each is a status or a JSON value. */
  readonly responses: Map<string, number | object>;
  /** @param header members that replace the usual members @param key signs the token */
  sign(claims: JWTPayload, header?: object, key?: KeyObject | Uint8Array): Promise<string>;
}

export async function openIssuer(): Promise<Issuer> {
  const requests: string[] = [];
  const responses: Issuer['responses'] = new Map();
  let current = getKey('first');
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    requests.push(path);
    const good = path.endsWith('/jwks')
      ? { keys: [current.jwk] }
      : { issuer: url, jwks_uri: `${url}/jwks`, more: true };
    const content = responses.get(path) ?? good;
    response.statusCode = typeof content === 'number' ? content : 200;
    if (response.statusCode === 302) response.setHeader('location', `${url}/jwks`);
    response.end(typeof content === 'number' ? '' : JSON.stringify(content));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  return {
    url,
    requests,
    responses,
    rotate(kid) {
      current = getKey(kid);
    },
    sign: (claims, header = {}, key = current.privateKey) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: String(current.jwk['kid']), ...header }).sign(key),
  };
}

const keys = new Map<string, ReturnType<typeof newKey>>();

/** Returns the same key pair for every call with a `kid`, because generating RSA keys takes long. */
export function getKey(kid: string): ReturnType<typeof newKey> {
  const key = keys.get(kid) ?? newKey(kid);
  keys.set(kid, key);
  return key;
}

function newKey(kid: string) {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const jwk: Record<string, unknown> = { ...publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' };
  return { privateKey, jwk };
}
