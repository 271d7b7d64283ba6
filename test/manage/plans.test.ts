import { expect, test } from 'vitest';
import { patchTeam } from '../../src/accounts/teams.ts';
import { createUser } from '../../src/accounts/users.ts';
import { openManageFixture } from './fixture.ts';

test.each([
  ['fixed', 'team', 'enterprise', 403],
  ['fixed', 'free', 'team', 403],
  ['fixed', 'team', 'team', 200],
  ['fixed', 'team', 'free', 200],
  ['open', 'free', 'enterprise', 200],
] as const)('with --plans %s an Admin changes the plan %s to %s: %i', async (plans, from, to, status) => {
  const { call, directory, team } = await openManageFixture(0, plans);
  await patchTeam(directory, team.id, { plan: from });
  const answer = await call('PATCH', `/teams/${team.id}`, { plan: to });
  expect(answer.status).toBe(status);
  if (status === 403)
    expect(answer.json).toMatchObject({ code: 'forbidden', detail: expect.stringContaining('--plans open') });
  expect(directory.teams.get(team.id)?.plan).toBe(status === 200 ? to : from);
});

test.each([
  ['fixed', undefined, 201, 'team'],
  ['fixed', 'free', 201, 'free'],
  ['fixed', 'enterprise', 403, undefined],
  ['open', undefined, 201, 'enterprise'],
] as const)(
  'with --plans %s an Admin on the plan team makes one on %s: %i',
  async (plans, plan, status, made) => {
    const { call, addAdmin, directory, team } = await openFounders(plans);
    await patchTeam(directory, team.id, { plan: 'team' });
    await addAdmin();
    const answer = await call('POST', '/teams', { name: 'New', ...(plan && { plan }) });
    expect(answer.status).toBe(status);
    if (made !== undefined) expect(answer.json.plan).toBe(made);
  },
);

/** An API key makes a team for the Admins of its own. */
async function openFounders(plans: 'fixed' | 'open') {
  const fixture = await openManageFixture(0, plans);
  const { directory, team } = fixture;
  const ada = { email: 'ada@example.com', name: 'Ada', role: 'Admin' as const, passwordHash: '' };
  return { ...fixture, addAdmin: () => createUser(directory, { ...ada, teams: [team.id] }) };
}
