import { expect, test } from 'vitest';
import { openManageFixture } from './fixture.ts';

test('a token that asks too often is told when to come back, and the others are not held up', async () => {
  const { call, clock, tokens } = await openManageFixture(2);
  const ask = (token?: string) => call('GET', '/applications', undefined, token);
  expect([(await ask()).status, (await ask()).status]).toEqual([200, 200]);
  expect(await ask()).toMatchObject({
    status: 429,
    headers: { 'retry-after': '1' },
    json: { code: 'rate_limited' },
  });
  expect((await ask(tokens.user)).status).toBe(200);
  clock.advance(500);
  expect((await ask()).status).toBe(200);
});
