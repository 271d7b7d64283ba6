import { expect, test } from 'vitest';
import { auditEntries } from '../../src/accounts/audit-log.ts';
import { verifyPassword } from '../../src/accounts/passwords.ts';
import { createTeam } from '../../src/accounts/teams.ts';
import { createUser } from '../../src/accounts/users.ts';
import { signIn } from '../../src/auth/factors/sign-in.ts';
import { noteEnd, noteReuse } from '../../src/auth/oauth/sessions.ts';
import { cheapHash } from '../support/cheap-hash.ts';
import { openAuthFixture } from './fixture.ts';

/** Creates a user of two teams, and a function that signs the user in to a built-in client. */
async function open() {
  const { settings, store, directory, team } = await openAuthFixture();
  const other = await createTeam(directory, 'Other');
  const { randomBytes } = settings;
  const passwordHash = await cheapHash('open sesame', randomBytes);
  const teams = [other.id, team.id];
  const email = 'ada@example.com';
  const user = await createUser(directory, { email, name: 'Ada', role: 'User', teams, passwordHash });
  const passwords = { checkRoom: () => {}, hash: cheapHash, verify: verifyPassword, close: async () => {} };
  const client = {
    clientId: 'c',
    number: 1,
    teamId: null,
    name: 'C',
    redirectUris: [],
    secretHash: null,
    createdAt: 0,
  };
  const browser = { id: 'id', permanentId: 'mark' };
  const enter = (password: string) =>
    signIn({ ...settings, passwords }, { email, password, address: '192.0.2.1', browser, userAgent: '' }, client);
  return { directory, store, user, teams, enter };
}

test('the sign-ins and ended sessions of a user are in the audit log of each team of the user', async () => {
  const { directory, store, user, teams, enter } = await open();
  await enter('wrong');
  await enter('open sesame');
  await directory.change((tx) => noteEnd(tx, 'session.ended', user.id));
  await directory.change((tx) => noteReuse(tx, 'refresh-token.reused', user.id));
  const entries = auditEntries(store, undefined, 100).filter(({ target }) => target.id === user.id);
  for (const team of teams) {
    const actions = entries.filter(({ teamId }) => teamId === team).map(({ action }) => action);
    expect(actions.slice(0, 4)).toEqual([
      'refresh-token.reused',
      'session.ended',
      'sign-in.succeeded',
      'sign-in.failed',
    ]);
  }
});
