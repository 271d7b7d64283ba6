import { expect, test } from 'vitest';
import { openManageFixture } from './fixture.ts';
import { openUsersFixture } from './people.ts';

test('a client that exceeds its rate gets Retry-After, and other clients are served', async () => {
  const { call, clock, tokens } = await openManageFixture(2);
  const ask = (token?: string) => call('GET', '/applications', undefined, token);
  expect([(await ask()).status, (await ask()).status]).toEqual([200, 200]);
  expect(await ask()).toMatchObject({ status: 429, headers: { 'retry-after': '1' }, json: { code: 'rate_limited' } });
  expect((await ask(tokens.user)).status).toBe(200);
  clock.advance(500);
  expect((await ask()).status).toBe(200);
});

test('a new token does not reset the rate of an API key or a user', async () => {
  const { as, ada, eve, freshToken } = await openUsersFixture(2);
  for (const who of [undefined, ada]) {
    const statuses: number[] = [];
    for (let request = 0; request < 4; request += 1) {
      const token = await freshToken(who);
      statuses.push((await as(token, 'GET', '/applications')).status);
    }
    expect(statuses).toEqual([200, 200, 429, 429]);
  }
  expect((await as(eve, 'GET', '/applications')).status).toBe(200);
});
