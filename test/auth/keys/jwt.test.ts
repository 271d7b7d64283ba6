import { expect, test } from 'vitest';
import { readUnverified } from '../../../src/auth/keys/jwt.ts';

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const header = encode({ alg: 'ES256' });
const payload = encode({ sub: 'x' });

test.each([
  ['a signed token', `${header}.${payload}.c2ln`],
  ['a token without a signature', `${encode({ alg: 'none' })}.${payload}.`],
  ['a token without claims', `${header}.${encode({})}.c2ln`],
  ['a token with a longer encoding than necessary', `${header}.${payload}.c2lnAA`],
])('%s is well-formed', (_, text) => {
  expect(readUnverified(text)).toBeDefined();
});

test.each([
  ['nothing', ''],
  ['one part', header],
  ['two parts', `${header}.${payload}`],
  ['four parts', `${header}.${payload}.c2ln.c2ln`],
  ['five parts', `${header}.a.b.c.d`],
  ['a header that is not JSON', `abc.${payload}.c2ln`],
  ['a header that is not an object', `${encode([])}.${payload}.c2ln`],
  ['a header that is null', `${encode(null)}.${payload}.c2ln`],
  ['a header without an algorithm', `${encode({})}.${payload}.c2ln`],
  ['an algorithm that is not a string', `${encode({ alg: 1 })}.${payload}.c2ln`],
  ['claims that are not JSON', `${header}.abc.c2ln`],
  ['claims that are not an object', `${header}.${encode('x')}.c2ln`],
  ['padding', `${header}.${payload}.c2ln=`],
  ['the other alphabet of base64', `${header}.${payload}.c2l+/`],
])('%s is not well-formed', (_, text) => {
  expect(readUnverified(text)).toBeUndefined();
});
