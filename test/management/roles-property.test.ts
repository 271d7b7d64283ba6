import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Role, roleIn, roles } from '../../src/contract/roles.ts';
import { openUsersFixture, type SignedInUser } from './people.ts';

/** A call of one person about another person, in one of the teams. */
const call = fc.record({
  by: fc.nat(3),
  about: fc.nat(3),
  team: fc.nat(2),
  kind: fc.constantFrom('put', 'remove', 'default', 'rename', 'create'),
  role: fc.constantFrom(...roles),
});

const role = fc.constantFrom(...roles);
/** The role of each person in each team; `null` if the person is not in the team. */
const world = fc.array(fc.array(fc.option(role), { minLength: 3, maxLength: 3 }), { minLength: 4, maxLength: 4 });

test('no sequence of calls changes a team in which the caller is not an Admin', async () => {
  const fixture = await openUsersFixture();
  const { as, ada, addUser, directory } = fixture;
  let count = 0;
  let created = 0;
  await fc.assert(
    fc.asyncProperty(world, fc.array(call, { maxLength: 12 }), async (table, calls) => {
      count += 1;
      const teams: string[] = [];
      for (const name of ['A', 'B', 'C'])
        teams.push((await as(ada, 'POST', '/teams', { name: `${name} ${count}` })).json.id);
      const users: SignedInUser[] = [];
      for (const [at, row] of table.entries()) users.push(await settled(`p${count}-${at}`, row));

      async function settled(name: string, row: readonly (Role | null)[]): Promise<SignedInUser> {
        const first = Math.max(
          0,
          row.findIndex((each) => each !== null),
        );
        const member = await addUser(name, 'Viewer', [teams[first]!]);
        for (const [at, wanted] of row.entries())
          if (wanted !== null) await as(ada, 'PUT', `/teams/${teams[at]}/members/${member.user.id}`, { role: wanted });
        return member;
      }

      for (const { by, about, team, kind, role } of calls) {
        const caller = users[by]!;
        const other = users[about]!;
        const teamId = teams[team]!;
        const before = snapshot();
        const roleOfCaller = (id: string) => before.get(caller.user.id)?.[id];
        await perform(caller, other, teamId, kind, role);
        const after = snapshot();
        for (const [id, rolesAfter] of after)
          for (const changed of teams) {
            if (rolesAfter[changed] === before.get(id)?.[changed]) continue;
            expect(roleOfCaller(changed), `${kind} changed a role in ${changed}`).toBe('Admin');
          }
      }

      function snapshot() {
        const shown = [...directory.users.values()].map(
          (user) => [user.id, Object.fromEntries(teams.map((id) => [id, roleIn(user, id)]))] as const,
        );
        return new Map(shown);
      }

      async function perform(caller: SignedInUser, other: SignedInUser, teamId: string, kind: string, role: Role) {
        const { id } = other.user;
        const name = `New ${count}`;
        switch (kind) {
          case 'put':
            return as(caller, 'PUT', `/teams/${teamId}/members/${id}`, { role });
          case 'remove':
            return as(caller, 'DELETE', `/teams/${teamId}/members/${id}`);
          case 'default':
            return as(caller, 'PATCH', `/users/${id}`, { role });
          case 'rename': {
            const response = await as(caller, 'PATCH', `/teams/${teamId}`, { name });
            const held = directory.users.get(caller.user.id);
            const isAdmin = held !== undefined && roleIn(held, teamId) === 'Admin';
            if (held !== undefined) expect(response.status === 200).toBe(isAdmin);
            return response;
          }
          default:
            created += 1;
            return as(caller, 'POST', '/users', { name, email: `n${created}@example.com`, role, teams: [teamId] });
        }
      }
    }),
    { numRuns: 25, seed: 23 },
  );
});
