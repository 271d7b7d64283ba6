import { expect, test } from 'vitest';
import { auditKey } from '../../src/accounts/audit-log.ts';
import { putMember } from '../../src/accounts/members.ts';
import { createTeam } from '../../src/accounts/teams.ts';
import { openManageFixture } from './fixture.ts';

interface Entry {
  readonly id: string;
  readonly at: string;
  readonly actor: { readonly type: string; readonly id: string; readonly address: string };
  readonly action: string;
  readonly changes?: readonly object[];
  readonly target: { readonly type: string; readonly id: string; readonly name: string };
}

test('the audit log has the actor, action, time and address of each change, latest first', async () => {
  const { call, clock, application } = await openManageFixture();
  clock.advance(1000);
  await call('PATCH', `/applications/${application.id}`, { name: 'Shop 2' });
  const { json } = await call('GET', '/audit');
  const [latest, ...rest] = json.items as Entry[];
  expect(latest).toMatchObject({
    at: new Date(clock.now()).toISOString(),
    actor: { type: 'api-key', address: '127.0.0.1' },
    action: 'application.changed',
    target: { type: 'application', id: application.id, name: 'Shop 2' },
  });
  expect(rest.at(-1)).toMatchObject({ action: 'team.created', actor: { type: 'system' } });
});

test('the audit log shows each change of a permission, and contains no secret', async () => {
  const { call, directory, store } = await openManageFixture();
  const [team] = (await call('GET', '/teams')).json.items;
  const keys = `/teams/${team.id}/api-keys`;
  const member = { email: 'leo@shop.example', name: 'Leo', password: 'correct horse staple', role: 'Viewer' };
  const user = (await call('POST', '/users', { ...member, teams: [team.id] })).json;
  await call('PATCH', `/users/${user.id}`, { role: 'Admin' });
  const key = (await call('POST', keys, { name: 'CI', scopes: ['admin'] })).json;
  await call('PATCH', `${keys}/${key.clientId}`, { scopes: ['read'], expiresAt: '2030-01-01T00:00:00.000Z' });
  const { items } = (await call('GET', '/audit')).json;
  expect(items.slice(0, 4).map(({ action, changes }: Entry) => [action, changes])).toEqual([
    [
      'api-key.changed',
      [
        { field: 'scopes', from: 'admin', to: 'read' },
        { field: 'expiresAt', from: null, to: '2030-01-01T00:00:00.000Z' },
      ],
    ],
    [
      'api-key.created',
      [
        { field: 'name', from: null, to: 'CI' },
        { field: 'scopes', from: null, to: 'admin' },
        { field: 'applications', from: null, to: 'all' },
      ],
    ],
    ['user.changed', [{ field: 'role', from: 'Viewer', to: 'Admin' }]],
    [
      'user.created',
      [
        { field: 'email', from: null, to: 'leo@shop.example' },
        { field: 'name', from: null, to: 'Leo' },
        { field: 'role', from: null, to: 'Viewer' },
      ],
    ],
  ]);
  expect(JSON.stringify(items)).not.toContain(key.clientSecret);
  const other = await createTeam(directory, 'Other');
  await putMember(directory, other.id, user.id);
  const added = Array.from(store.audit.getRange(), ({ value }) => value).at(-1);
  expect(added).toMatchObject({ action: 'member.added', changes: [{ field: 'role', from: null, to: 'Admin' }] });
});

test('refused requests are not in the audit log', async () => {
  const { call, tokens, application } = await openManageFixture();
  const before = (await call('GET', '/audit')).json.items.length;
  expect((await call('DELETE', `/applications/${application.id}`, undefined, tokens.user)).status).toBe(403);
  expect((await call('PATCH', `/applications/${application.id}`, { name: '' })).status).toBe(400);
  expect((await call('GET', '/audit')).json.items).toHaveLength(before);
});

test('an Admin reads only the audit entries of their own teams, and a User is refused', async () => {
  const { call, tokens, application } = await openManageFixture();
  const { json } = await call('GET', '/audit', undefined, tokens.outsider);
  expect(JSON.stringify(json)).not.toContain(application.id);
  expect((await call('GET', '/audit', undefined, tokens.user)).status).toBe(403);
});

test('failed sign-ins with unknown accounts are visible only to Admins of the first team', async () => {
  const { call, tokens, directory } = await openManageFixture();
  const nothing = { type: 'user', id: '', name: '' };
  await directory.under({ address: '192.0.2.7' }).change((tx) => tx.note('sign-in.failed', null, nothing));
  await directory.change((tx) => tx.note('signing-key.rotated', null, nothing));
  const seen = async (token: string) =>
    ((await call('GET', '/audit', undefined, token)).json.items as Entry[])
      .map(({ action }) => action)
      .filter((action) => action.startsWith('sign'));
  expect(await seen(tokens.admin)).toEqual(['signing-key.rotated', 'sign-in.failed']);
  expect(await seen(tokens.outsider)).toEqual(['signing-key.rotated']);
});

test('Admins of other teams do not see who administers the installation', async () => {
  const { call, tokens, directory } = await openManageFixture();
  const [admin] = (await call('GET', '/audit')).json.items.map(({ actor }: Entry) => actor);
  const policy = { type: 'sign-in-policy', id: '', name: '' };
  await directory
    .under({ id: admin?.id ?? '', address: '192.0.2.7' })
    .change((tx) => tx.note('sign-in-policy.changed', null, policy));
  const seen = async (token: string) =>
    JSON.stringify((await call('GET', '/audit', undefined, token)).json).includes('sign-in-policy.changed');
  expect([await seen(tokens.admin), await seen(tokens.outsider)]).toEqual([true, false]);
});

test('pages of the audit log list each entry once, even if entries are added between two pages', async () => {
  const { call, application } = await openManageFixture();
  const change = (name: string) => call('PATCH', `/applications/${application.id}`, { name });
  for (let at = 0; at < 7; at += 1) await change(`name ${at}`);
  const all = ((await call('GET', '/audit')).json.items as Entry[]).map(({ id }) => id);
  const shown: string[] = [];
  let query = '?limit=3';
  for (let page = 0; page < 10; page += 1) {
    const { items, nextCursor } = (await call('GET', `/audit${query}`)).json;
    shown.push(...items.map(({ id }: Entry) => id));
    if (nextCursor === null) break;
    query = `?limit=3&cursor=${nextCursor}`;
    await change(`later ${page}`);
  }
  expect(shown).toEqual(all);
});

test('other requests are served while a page of the audit log is read', async () => {
  const { call, store, clock } = await openManageFixture();
  const actor = { type: 'system', id: 'x', name: 'x', address: '' } as const;
  const target = { type: 'team', id: 'x', name: 'x' };
  const foreign = { at: clock.now(), actor, action: 'team.changed', teamId: 'another', target };
  store.lmdb.transactionSync(() => {
    for (let number = 1000; number < 12_000; number += 1) store.audit.putSync(auditKey(number), { ...foreign, number });
  });
  let ticks = 0;
  const count = () => {
    ticks += 1;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  const first = (await call('GET', '/audit')).json;
  clearImmediate(counting);
  expect(first.items).toEqual([]);
  expect(ticks).toBeGreaterThan(40);
  const { items, nextCursor } = (await call('GET', `/audit?cursor=${first.nextCursor}`)).json;
  expect(items.at(-1)).toMatchObject({ action: 'team.created' });
  expect(nextCursor).toBeNull();
});

test.each([
  ['?action=application', ['application.changed', 'application.created']],
  ['?action=application.changed', ['application.changed']],
  ['?action=app', []],
  ['?actor=nobody', []],
  ['?from=2030-01-01T00:00:00Z', []],
  ['?to=2020-01-01T00:00:00Z', []],
])('the query %s filters the audit log', async (query, actions) => {
  const { call, application } = await openManageFixture();
  await call('PATCH', `/applications/${application.id}`, { name: 'New' });
  const { items } = (await call('GET', `/audit${query}`)).json;
  expect(items.map(({ action }: Entry) => action)).toEqual(actions);
});

test.each(['?limit=0', '?cursor=x', '?from=yesterday'])('the audit query %s is refused', async (query) => {
  const { call } = await openManageFixture();
  expect(await call('GET', `/audit${query}`)).toMatchObject({ status: 400, json: { code: 'invalid_query' } });
});
