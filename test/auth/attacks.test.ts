import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { openSigningKeys, type SigningKeys } from '../../src/auth/oauth/key-ring.ts';
import { InvalidToken, signJwt, verifyAccessToken } from '../../src/auth/oauth/tokens.ts';
import { otherClaims } from './attacks/claims.ts';
import { otherHeaders } from './attacks/headers.ts';
import { otherAlgorithms, ownKeys } from './attacks/keys.ts';
import { otherTexts } from './attacks/texts.ts';
import { type Attack, algorithms, encode, type Forgery, openForgery, signWith } from './forgery.ts';

const targets = await Promise.all(algorithms.map(openForgery));
const others = await Promise.all(algorithms.map(openForgery));

async function expectRefused(target: Forgery, token: string, keys?: SigningKeys): Promise<void> {
  const settings = keys === undefined ? target.settings : { ...target.settings, keys };
  await expect(verifyAccessToken(settings, token), token).rejects.toThrow(InvalidToken);
}

describe.each<readonly [what: string, attacks: readonly Attack[]]>([
  ['a token with another algorithm', otherAlgorithms],
  ['a token with another key', ownKeys],
  ['a token with another header', otherHeaders],
  ['a token with wrong claims, signed by the real key', otherClaims],
  ['a real token', otherTexts],
])('%s', (_, attacks) => {
  describe.each(attacks)('%s', (_, forge) => {
    test.each(algorithms)('a service that signs with %s rejects the forged token', async (alg) => {
      const target = targets.find((one) => one.alg === alg)!;
      await verifyAccessToken(target.settings, target.sign());
      const tokens = [forge(target, others)].flat();
      expect(tokens).not.toHaveLength(0);
      for (const token of tokens) await expectRefused(target, token);
    });
  });
});

test.each(targets)('an ID token that the service signs with $alg is rejected as an access token', async (target) => {
  await expectRefused(target, await signJwt(target.settings.keys, 'JWT', target.claims));
  await verifyAccessToken(target.settings, await signJwt(target.settings.keys, 'at+jwt', target.claims));
});

test('a key does not verify tokens of another algorithm, even if the service has a key for that algorithm', async () => {
  const keys = openSigningKeys(targets.map(({ key }) => key));
  for (const target of targets) {
    await verifyAccessToken({ ...target.settings, keys }, target.sign());
    for (const { alg, header, key } of targets) {
      if (alg === target.alg) continue;
      await expectRefused(target, target.sign(target.claims, header), keys);
      await expectRefused(target, target.sign(target.claims, { ...target.header, kid: key.kid }), keys);
      await expectRefused(target, target.sign(target.claims, { ...target.header, alg }), keys);
    }
  }
});

test('a token that is too long is rejected before its key is looked up', async () => {
  const [target] = targets as [Forgery];
  const looked: string[] = [];
  const keys: SigningKeys = {
    ...target.settings.keys,
    find: (typ, header) => {
      looked.push(header);
      return target.settings.keys.find(typ, header);
    },
  };
  await expectRefused(target, target.sign({ ...target.claims, name: 'x'.repeat(8000) }), keys);
  await expectRefused(target, '.'.repeat(1_000_000), keys);
  expect(looked).toEqual([]);
  await verifyAccessToken({ ...target.settings, keys }, target.sign({ ...target.claims, name: 'x'.repeat(5000) }));
  expect(looked).toHaveLength(1);
});

test('a URL in a token is never fetched', async () => {
  let asked = 0;
  const server = createServer((_, response) => {
    asked += 1;
    response.end('{"keys":[]}');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`;
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  for (const target of targets) {
    for (const more of [
      { jku: url },
      { x5u: url },
      { kid: url },
      { x5c: ['MIIB'], x5u: url },
      { jku: url, kid: undefined },
    ]) {
      const header = { ...target.header, ...more };
      await expectRefused(target, target.sign(target.claims, header));
      await expectRefused(target, signWith(privateKey, `${encode(header)}.${encode(target.claims)}`));
    }
    await expectRefused(target, target.sign({ ...target.claims, iss: url }));
  }
  await new Promise((closed) => server.close(closed));
  expect(asked).toBe(0);
});
