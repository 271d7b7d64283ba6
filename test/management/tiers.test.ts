import { expect, test } from 'vitest';
import { createKey } from '../../src/accounts/application-keys.ts';
import { createApplication } from '../../src/accounts/applications.ts';
import { patchTeam } from '../../src/accounts/teams.ts';
import { createUser } from '../../src/accounts/users.ts';
import { openManageFixture } from './fixture.ts';

test.each([
  ['fixed', 'team', 'enterprise', 403],
  ['fixed', 'free', 'team', 403],
  ['fixed', 'team', 'team', 200],
  ['fixed', 'team', 'free', 200],
  ['open', 'free', 'enterprise', 200],
] as const)(
  'a server with --plans %s responds to an Admin who changes the plan %s to %s with %i',
  async (plans, from, to, status) => {
    const { call, directory, team } = await openManageFixture(0, plans);
    await patchTeam(directory, team.id, { plan: from });
    const response = await call('PATCH', `/teams/${team.id}`, { plan: to });
    expect(response.status).toBe(status);
    if (status === 403)
      expect(response.json).toMatchObject({ code: 'forbidden', detail: expect.stringContaining('--plans open') });
    expect(directory.teams.get(team.id)?.plan).toBe(status === 200 ? to : from);
  },
);

test.each([
  ['fixed', undefined, 201, 'team'],
  ['fixed', 'free', 201, 'free'],
  ['fixed', 'enterprise', 403, undefined],
  ['open', undefined, 201, 'enterprise'],
] as const)(
  'a server with --plans %s responds to the creation of a team on the plan %s with %i',
  async (plans, plan, status, made) => {
    const { call, addAdmin, directory, team } = await openFounders(plans);
    await patchTeam(directory, team.id, { plan: 'team' });
    await addAdmin();
    const response = await call('POST', '/teams', { name: 'New', ...(plan && { plan }) });
    expect(response.status).toBe(status);
    if (made !== undefined) expect(response.json.plan).toBe(made);
  },
);

test('the limits of a team are listed with their use, and with the settings of the service', async () => {
  const { call, tokens, directory, team, application } = await openManageFixture(0, 'fixed');
  await patchTeam(directory, team.id, { plan: 'team' });
  await createApplication(directory, { name: 'Other', teamId: team.id });
  const full = { environments: ['a', 'b', 'c', 'd'], name: 'Full', teamId: team.id };
  const { id } = await createApplication(directory, full);
  await createKey(directory, id, { type: 'Mobile' });
  const { status, json } = await call('GET', `/teams/${team.id}/limits`, undefined, tokens.user);
  expect({ status, plan: json.plan, canRaise: json.canRaise }).toEqual({ status: 200, plan: 'team', canRaise: false });
  const allowances = new Map(json.allowances.map((each: { what: string }) => [each.what, each]));
  const keysOfFirst = directory.getApplicationKeys(application.id).length;
  const words = 'applications in a team';
  expect(allowances.get('applications')).toEqual({
    what: 'applications',
    words,
    allowed: 50,
    used: 3,
    application: null,
  });
  expect(allowances.get('environments')).toMatchObject({ allowed: 20, used: 4, application: 'Full' });
  expect(allowances.get('keys')).toMatchObject({ allowed: 50, used: Math.max(keysOfFirst, 1) });
  expect(allowances.get('features')).toMatchObject({ used: 0, application: application.name });
  expect(json.settings).toContainEqual({
    setting: '--api-rate',
    value: 100,
    words: 'Maximum API requests per second of a client, over all of its tokens (0: unlimited)',
  });
  expect(json.settings).toContainEqual(expect.objectContaining({ setting: '--burst', value: 20_000 }));
});

test('the limits of a team show that an Admin can raise the plan with --plans open', async () => {
  const { call, team } = await openManageFixture(0, 'open');
  expect((await call('GET', `/teams/${team.id}/limits`)).json.canRaise).toBe(true);
});

/** Opens a fixture whose API key creates teams for the Admins of its own team. */
async function openFounders(plans: 'fixed' | 'open') {
  const fixture = await openManageFixture(0, plans);
  const { directory, team } = fixture;
  const ada = { email: 'ada@example.com', name: 'Ada', role: 'Admin' as const, passwordHash: '' };
  return { ...fixture, addAdmin: () => createUser(directory, { ...ada, teams: [team.id] }) };
}
