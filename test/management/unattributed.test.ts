import { expect, test } from 'vitest';
import { deleteTeam } from '../../src/accounts/teams.ts';
import { openUsersFixture } from './people.ts';

const source = { route: 'telemetry', transport: 'http', userAgent: 'shop/1.0' } as const;
const claim = { appKey: 'fm_fe_c0ffee0123456789', environment: 'Secret', origin: 'https://shop.example' };

async function openRefused() {
  const fixture = await openUsersFixture();
  fixture.latestUnattributed.add('unknown_key', source, claim, fixture.clock.now());
  const seenBy = async (who: Parameters<typeof fixture.as>[0]) =>
    (await fixture.as(who, 'GET', '/unattributed')).json.items;
  return { ...fixture, seenBy };
}

test('refusals without an application are visible only to Admins and API keys of the first team', async () => {
  const { seenBy, ada, tom, otherTeamId, issueToken } = await openRefused();
  const whole = { keyPrefix: 'fm_fe_c0ffee', origin: claim.origin, userAgent: 'shop/1.0', environment: 'Secret' };
  expect(await seenBy(ada)).toMatchObject([whole]);
  expect(await seenBy(undefined)).toMatchObject([whole]);
  expect(await seenBy(tom)).toEqual([]);
  expect(await seenBy({ token: await issueToken('Admin', otherTeamId) })).toEqual([]);
});

test('an Admin sees refusals without an application once the team of the Admin is the oldest team', async () => {
  const { seenBy, directory, application, team, ada, eve, bob, tom, otherTeamId } = await openRefused();
  for (const { user } of [ada, eve])
    await directory.change((tx) => tx.put('users', user.id, { ...user, teams: [...user.teams, otherTeamId] }));
  await directory.change((tx) => tx.remove('applications', application.id));
  await deleteTeam(directory, team.id);
  expect(await seenBy(tom)).toHaveLength(1);
  expect(await seenBy(bob)).toHaveLength(1);
});
