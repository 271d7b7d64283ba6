import { expect, test } from 'vitest';
import type { AccessClaims } from '../../../src/auth/oauth/tokens.ts';
import { VerifiedTokens } from '../../../src/auth/oauth/validation.ts';

const now = 1_000_000;

function claims(jti: string, exp = now / 1000 + 3600): AccessClaims {
  const times = { iat: now / 1000, exp };
  const rest = { client_id: 'c', scope: 's', role: 'User' as const, team: [], primaryTeam: 't' };
  return { iss: 'i', sub: 'c', aud: 'a', jti, ...times, ...rest };
}

test('the cache finds a verified token only by its full text, and only until the token expires', () => {
  const tokens = new VerifiedTokens();
  const one = claims('1');
  tokens.keep('text', one);
  expect(tokens.find('text', now)).toBe(one);
  expect(tokens.find('tex', now)).toBeUndefined();
  expect(tokens.find('text', one.exp * 1000 - 1)).toBe(one);
  expect(tokens.find('text', one.exp * 1000)).toBeUndefined();
});

test('the cache keeps only the latest text of a verified token, until the token is dropped', () => {
  const tokens = new VerifiedTokens();
  tokens.keep('text', claims('1'));
  tokens.keep('other text', claims('1'));
  expect(tokens.find('text', now)).toBeUndefined();
  expect(tokens.find('other text', now)).toBeDefined();
  tokens.drop('1');
  tokens.drop('unknown');
  expect(tokens.find('other text', now)).toBeUndefined();
  expect(tokens.size).toBe(0);
});

test('a change of the signing keys removes all verified tokens from the cache', () => {
  const tokens = new VerifiedTokens();
  const keys: unknown[] = [];
  const others: unknown[] = [];
  tokens.useKeys(keys);
  tokens.keep('text', claims('1'));
  tokens.useKeys(keys);
  expect(tokens.size).toBe(1);
  tokens.useKeys(others);
  expect(tokens.find('text', now)).toBeUndefined();
  tokens.keep('text', claims('1'));
  expect(tokens.size).toBe(1);
});

test('the cache of verified tokens has a maximum size, and keeps the tokens in use', () => {
  const tokens = new VerifiedTokens(3);
  for (const jti of ['1', '2', '3']) tokens.keep(jti, claims(jti));
  for (let next = 4; next < 100; next += 1) {
    expect(tokens.find('2', now)).toBeDefined();
    tokens.keep(String(next), claims(String(next)));
    expect(tokens.size).toBe(3);
  }
  expect(tokens.find('1', now)).toBeUndefined();
  expect(tokens.find('99', now)).toBeDefined();
});

test('a new token is added to the cache even if all other tokens are in use', () => {
  const tokens = new VerifiedTokens(2);
  for (const jti of ['1', '2']) tokens.keep(jti, claims(jti));
  for (const jti of ['1', '2']) tokens.find(jti, now);
  tokens.keep('3', claims('3'));
  expect(tokens.size).toBe(2);
  expect(tokens.find('3', now)).toBeDefined();
});
