import { expect, test } from 'vitest';
import { refusal } from '../auth/fixture.ts';
import { openManageFixture } from './fixture.ts';

async function open() {
  const fixture = await openManageFixture();
  const path = `/applications/${fixture.application.id}/environments`;
  const names = async () => (await fixture.call('GET', path)).json.items.map(({ name }: { name: string }) => name);
  return { ...fixture, path, names };
}

test.each(['Test', 'with space', 'a/b', 'é🙂', '__proto__', '100%', '...'])(
  'an environment named %j is created, listed and deleted',
  async (name) => {
    const { call, path, names, clock } = await open();
    const made = await call('POST', path, { name });
    expect(made).toMatchObject({
      status: 201,
      json: { name, createdAt: new Date(clock.now()).toISOString() },
      headers: { location: `/api/v2${path}/${encodeURIComponent(name)}` },
    });
    expect(await names()).toEqual(['Production', 'Staging', 'Development', name]);
    expect((await call('DELETE', `${path}/${encodeURIComponent(name)}`)).status).toBe(204);
    expect(await names()).not.toContain(name);
    expect((await call('DELETE', `${path}/${encodeURIComponent(name)}`)).status).toBe(404);
  },
);

test.each(['\u0000', '.', '..'])('an environment named %j is refused', async (name) => {
  const { call, path } = await open();
  const refused = refusal(400, 'invalid_name');
  expect(await call('POST', path, { name })).toMatchObject(refused);
});

test('an application has at most fifty environments, listed in pages', async () => {
  const { call, path, names } = await open();
  for (let at = 3; at < 50; at++) await call('POST', path, { name: `e${at}` });
  expect(await call('POST', path, { name: 'more' })).toMatchObject(refusal(403, 'plan_limit'));
  expect(await names()).toHaveLength(50);
  const first = (await call('GET', `${path}?limit=49`)).json;
  const second = (await call('GET', `${path}?limit=49&cursor=${first.nextCursor}`)).json;
  expect(second).toMatchObject({ items: [{ name: 'e49' }], nextCursor: null });
});
