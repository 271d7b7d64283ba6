import { decodeJwt } from 'jose';
import { expect } from 'vitest';
import { putMember } from '../../src/accounts/members.ts';
import { createUser } from '../../src/accounts/users.ts';
import type { AccessClaims } from '../../src/auth/oauth/tokens.ts';
import { findCaller } from '../../src/management/access.ts';
import { fixtureOn } from '../accounts/fixture.ts';
import { newDatabase, openNode, sharedServer } from '../accounts/store/postgres-fixture.ts';
import { openSessionFixture } from '../auth/session-fixture.ts';
import { needing } from '../support/needing.ts';

const { test } = needing('postgresql');

test('a role that one node changes takes effect on another node with the next request', async () => {
  const url = await newDatabase(await sharedServer());
  const one = await openSessionFixture(0, await fixtureOn({ data: '', ...openNode(url) }));
  const node = openNode(url);
  await node.accountStore.current();
  const other = one.beside(node);
  const { access_token: token } = await one.tokens();
  const { directory, team, user } = one;
  const admin = { email: 'bob@example.com', name: 'Bob', role: 'Admin', passwordHash: 'none' } as const;
  await createUser(directory, { ...admin, teams: [team.id] });
  for (const role of ['Viewer', 'User', 'Admin'] as const) {
    await putMember(directory, team.id, user.id, role);
    await other.accountStore.current();
    expect(findCaller(other.directory, decodeJwt(token) as AccessClaims).roleIn(team.id)).toBe(role);
  }
});
