import { describe, expect, test } from 'vitest';
import { refusal } from '../auth/fixture.ts';
import { openManageFixture } from './fixture.ts';

describe('POST /applications', () => {
  test('creating an application requires only a name', async () => {
    const { call, team, clock } = await openManageFixture();
    const response = await call('POST', '/applications', { name: 'Shop' });
    const now = new Date(clock.now()).toISOString();
    expect(response.status).toBe(201);
    expect(response.headers['location']).toBe(`/api/v2/applications/${response.json.id}`);
    expect(response.json).toEqual({
      id: expect.stringMatching(/^app_/),
      name: 'Shop',
      teamId: team.id,
      allowedOrigins: [],
      acceptClientIdentities: false,
      rate: null,
      burst: null,
      environments: ['Production', 'Staging', 'Development'].map((name) => ({ name, createdAt: now })),
      createdAt: now,
      updatedAt: now,
    });
    expect((await call('GET', `/applications/${response.json.id}`)).json).toEqual(response.json);
    // The entity tag is a hash of the fields in this order. Nodes of two releases must return the same tag.
    expect(Object.keys(response.json).join(' ')).toBe(
      'id name teamId allowedOrigins acceptClientIdentities rate burst environments createdAt updatedAt',
    );
  });

  test('an application can be created with a value for every setting', async () => {
    const { call, team } = await openManageFixture();
    const settings = {
      name: 'Ünï 🙂',
      teamId: team.id,
      allowedOrigins: ['https://*.example.com'],
      acceptClientIdentities: true,
      rate: 0.5,
      burst: 1,
    };
    const response = await call('POST', '/applications', { ...settings, environments: ['__proto__'] });
    expect(response.status).toBe(201);
    expect(response.json).toMatchObject(settings);
    expect(response.json.environments.map(({ name }: { name: string }) => name)).toEqual(['__proto__']);
  });

  test.each<[unknown, string, string]>([
    [undefined, 'invalid_json', ''],
    [{ name: 1 }, 'invalid_body', 'Field name must be string'],
    [{ name: 'a', colour: 'red' }, 'invalid_body', 'Field colour is unknown'],
    [{ name: '\ud800' }, 'invalid_name', ''],
    [{ name: 'a'.repeat(257) }, 'invalid_name', ''],
    [{ name: 'a', environments: ['x', 'x'] }, 'invalid_body', 'environments'],
    [{ name: 'a', allowedOrigins: ['https://a.example//'] }, 'invalid_body', 'allowedOrigins[0]'],
    [{ name: 'a', rate: -1 }, 'invalid_body', 'Field rate must be null or must be >= 0'],
    [{ name: 'a', rate: 5, burst: 0 }, 'invalid_body', '`burst` must be at least 1'],
    [{ name: 'a', burst: 0 }, 'invalid_body', '`burst` must be at least 1'],
    [{ name: 'a', environments: ['.'] }, 'invalid_name', '".", which cannot be in a URL'],
    [{ name: 'a', environments: ['Test', '..'] }, 'invalid_name', '"..", which cannot be in a URL'],
  ])('an application cannot be created from %j', async (body, code, detail) => {
    const { call } = await openManageFixture();
    const response = await call('POST', '/applications', body);
    expect(response).toMatchObject(refusal(400, code));
    expect(response.json.detail).toContain(detail);
  });

  test('creating an application with a large body or with too many environments is refused', async () => {
    const { call } = await openManageFixture();
    expect(await call('POST', '/applications', { name: 'x'.repeat(70_000) })).toMatchObject({ status: 413 });
    const environments = Array.from({ length: 51 }, (_, at) => `e${at}`);
    expect(await call('POST', '/applications', { name: 'a', environments })).toMatchObject(refusal(403, 'plan_limit'));
  });
});

describe('PATCH /applications/:id', () => {
  test('a patch of an application changes only the given fields', async () => {
    const { call, application, clock } = await openManageFixture();
    const path = `/applications/${application.id}`;
    const before = (await call('GET', path)).json;
    clock.advance(1000);
    const patch = { rate: 10, allowedOrigins: ['https://a.example'] };
    const { status, json } = await call('PATCH', path, patch);
    expect(status).toBe(200);
    expect(json).toEqual({ ...before, ...patch, updatedAt: new Date(clock.now()).toISOString() });
    expect((await call('PATCH', path, { rate: null })).json.rate).toBeNull();
  });

  test('the burst of an application can be 0 only if its rate is also 0', async () => {
    const { call, application } = await openManageFixture();
    const path = `/applications/${application.id}`;
    expect((await call('PATCH', path, { rate: 0, burst: 0 })).json).toMatchObject({ rate: 0, burst: 0 });
    const refused = await call('PATCH', path, { rate: 5 });
    expect(refused).toMatchObject(refusal(400, 'invalid_body'));
    expect((await call('PATCH', path, { rate: 5, burst: 1 })).json).toMatchObject({ rate: 5, burst: 1 });
  });

  test('an empty patch of an application changes nothing', async () => {
    const { call, application, clock } = await openManageFixture();
    const path = `/applications/${application.id}`;
    const before = (await call('GET', path)).json;
    clock.advance(1000);
    expect(await call('PATCH', path, {})).toMatchObject({ status: 200, json: before });
  });

  test.each([{ id: 'x' }, { teamId: 'x' }, { environments: [] }, { burst: 0 }, 7])(
    'the patch %j of an application is refused and changes nothing',
    async (patch) => {
      const { call, application, directory } = await openManageFixture();
      expect((await call('PATCH', `/applications/${application.id}`, patch)).status).toBe(400);
      expect(directory.applications.get(application.id)).toEqual(application);
    },
  );
});

test('deleting an application removes all of its records', async () => {
  const { call, application } = await openManageFixture();
  const path = `/applications/${application.id}`;
  expect(await call('DELETE', path)).toMatchObject({ status: 204, text: '' });
  for (const gone of [path, `${path}/keys`, `${path}/environments`]) {
    expect((await call('GET', gone)).status).toBe(404);
  }
});

describe('GET /applications', () => {
  test('pages list each application once while other applications are created and deleted', async () => {
    const { call, application } = await openManageFixture();
    const made = [application.id];
    for (const name of ['b', 'c', 'd', 'e']) made.push((await call('POST', '/applications', { name })).json.id);
    const seen: string[] = [];
    let cursor = '';
    for (let page = 0; cursor !== null; page++) {
      const { json } = await call('GET', `/applications?limit=2${cursor && `&cursor=${cursor}`}`);
      seen.push(...json.items.map(({ id }: { id: string }) => id));
      cursor = json.nextCursor;
      if (page === 0) await call('DELETE', `/applications/${made[1]}`);
      if (page === 0) made.push((await call('POST', '/applications', { name: 'late' })).json.id);
    }
    expect(seen).toEqual(made);
  });

  test('the last page of applications has no cursor, even if the page is full', async () => {
    const { call } = await openManageFixture();
    expect((await call('GET', '/applications?limit=1')).json).toMatchObject({ nextCursor: null });
  });

  test.each(['limit=0', 'limit=201', 'limit=x', 'limit=-1', 'limit=1.5', 'limit=', 'cursor=x', 'cursor=', 'limit=%zz'])(
    'the list of applications refuses the query ?%s',
    async (query) => {
      const { call } = await openManageFixture();
      expect(await call('GET', `/applications?${query}`)).toMatchObject(refusal(400, 'invalid_query'));
    },
  );
});

test("lists contain only resources of the caller's teams", async () => {
  const { call, application, tokens } = await openManageFixture();
  const ids = async (token: string) =>
    (await call('GET', '/applications', undefined, token)).json.items.map(({ id }: { id: string }) => id);
  expect(await ids(tokens.user)).toEqual([application.id]);
  expect(await ids(tokens.outsider)).toEqual([]);
});
