import { expect, test } from 'vitest';
import { deleteTeam } from '../../src/accounts/teams.ts';
import { openPeopleFixture } from './people.ts';

const source = { route: 'telemetry', transport: 'http', userAgent: 'shop/1.0' } as const;
const claim = { appKey: 'fm_fe_c0ffee0123456789', environment: 'Secret', origin: 'https://shop.example' };

async function openRefused() {
  const fixture = await openPeopleFixture();
  fixture.latestUnattributed.add('unknown_key', source, claim, fixture.clock.now());
  const seenBy = async (who: Parameters<typeof fixture.as>[0]) =>
    (await fixture.as(who, 'GET', '/unattributed')).json.items;
  return { ...fixture, seenBy };
}

test('refusals of no application are seen by the Admins and API keys of the first team only', async () => {
  const { seenBy, ada, tom, strangersTeamId, tokenOf } = await openRefused();
  const whole = {
    keyPrefix: 'fm_fe_c0ffee',
    origin: claim.origin,
    userAgent: 'shop/1.0',
    environment: 'Secret',
  };
  expect(await seenBy(ada)).toMatchObject([whole]);
  expect(await seenBy(undefined)).toMatchObject([whole]);
  expect(await seenBy(tom)).toEqual([]);
  expect(await seenBy({ token: await tokenOf('Admin', strangersTeamId) })).toEqual([]);
});

test('an Admin of another team sees the refusals once theirs is the oldest that is left', async () => {
  const { seenBy, directory, application, team, ada, eve, bob, tom, strangersTeamId } = await openRefused();
  for (const { user } of [ada, eve])
    await directory.change((draft) =>
      draft.put('users', user.id, { ...user, teams: [...user.teams, strangersTeamId] }),
    );
  await directory.change((draft) => draft.remove('applications', application.id));
  await deleteTeam(directory, team.id);
  expect(await seenBy(tom)).toHaveLength(1);
  expect(await seenBy(bob)).toHaveLength(1);
});
