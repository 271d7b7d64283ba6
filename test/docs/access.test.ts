import { join } from 'node:path';
import { expect, test } from 'vitest';
import { permissions, type Role, roles } from '../../src/contract/roles.ts';
import { maxSignInAge } from '../../src/contract/step-up.ts';
import type { CredentialAccess, Endpoint, RoleAccess } from '../../src/http/endpoint.ts';
import { endpoints } from '../support/endpoints.ts';

interface With<Access> extends Endpoint {
  readonly access: Access & Endpoint['access'];
}

const needsRole = (endpoint: Endpoint): endpoint is With<RoleAccess> => 'least' in endpoint.access;
const needsCredential = (endpoint: Endpoint): endpoint is With<CredentialAccess> => 'who' in endpoint.access;

function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(columns), `|${'---|'.repeat(columns.length)}`, ...rows.map(line)].join('\n');
}

/** Groups items by a key, in the order of the first item of each group. */
function groupBy<T>(items: readonly T[], key: (item: T) => string): readonly (readonly [string, readonly T[]])[] {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(key(item), [...(groups.get(key(item)) ?? []), item]);
  return [...groups];
}

/** Lists the endpoints as code: `GET, POST /path`. */
function listEndpoints(listed: readonly Endpoint[]): string {
  const paths = groupBy(listed, ({ path }) => path);
  return paths.map(([path, same]) => `\`${same.map(({ method }) => method).join(', ')} ${path}\``).join(', ');
}

const marks = { true: '†', partly: '‡' };

function methods(listed: readonly With<RoleAccess>[]): string {
  return listed
    .map(({ method, access: { recent } }) => `${method}${recent === undefined ? '' : marks[`${recent}`]}`)
    .join(', ');
}

/** Writes a row for the paths with the same methods, with a column for each role and a column for users themselves. */
function roleTable(prefix: string, listed: readonly With<RoleAccess>[]): string {
  const columns = roles.filter((role) => listed.some(({ access }) => access.least === role));
  const self = listed.some(({ access }) => access.orSelf) ? ['The user themself'] : [];
  const rows = groupBy(listed, ({ path }) => path).map(([path, same]) => {
    const shown = path.replace(`/api/v2${prefix}`, '') || '/';
    const inRole = (role: Role) => methods(same.filter(({ access }) => access.least === role));
    const bySelf = self.map(() => methods(same.filter(({ access }) => access.orSelf)));
    return { shown: `\`${shown}\``, cells: [...columns.map(inRole), ...bySelf] };
  });
  const merged = groupBy(rows, ({ cells }) => cells.join('|')).map(([, same]) => [
    same.map(({ shown }) => shown).join(', '),
    ...same[0]!.cells,
  ]);
  return table([`Path below \`/api/v2${prefix}\``, ...columns, ...self], merged);
}

const sections = [
  ['application', 'Applications', '/applications/:id', "The caller needs the role in the application's team."],
  ['team', 'Teams', '/teams/:id', 'The caller needs the role in the team.'],
  [
    'user',
    'Users',
    '/users/:id',
    'The caller needs the role in a team of the user. Deletions, reset links, and changes to factors or linked accounts require an Admin of all teams of the user.',
  ],
  ['installation', 'Installation', '', 'The caller must be an Admin of the first team.'],
  [
    'service',
    'Other resources',
    '',
    'The caller needs the role in the team that the request names, or else in the primary team.',
  ],
] as const;

const hosts = [
  ['Base', 'Base host'],
  ['Auth', 'Auth host'],
  ['Metrics', 'Metrics host'],
  ['All', 'All hosts'],
] as const;

/** Writes a row for the endpoints with the same callers. Preflights are described in the text. */
function credentialTable(listed: readonly Endpoint[]): string {
  const rows = groupBy(
    listed.filter(needsCredential).filter(({ method }) => method !== 'OPTIONS'),
    ({ access }) => `${access.credential} ${access.who}`,
  );
  return table(
    ['Endpoint', 'Credential', 'Who may call it'],
    rows.map(([, same]) => [listEndpoints(same), same[0]!.access.credential, same[0]!.access.who]),
  );
}

const managed = endpoints.Base.filter(needsRole);

const document = `# Who may call what

People and API keys have a role in each of their teams:

${table(
  ['Role', 'May'],
  roles.map((role) => [role, permissions[role]]),
)}

- **Role in a team.** A user has a default role. An Admin of a team can give the user another role in that team
  (\`PUT /teams/:id/members/:userId\`). A team always has at least one Admin.
- **Current roles.** The server reads roles at each request, so a change also applies to existing tokens. The claim \`role\` of a
  token is the default role.
- **First team.** \`init\` creates the first team. After its deletion, the oldest remaining team replaces it. Its Admins and
  Admin API keys run the installation. Only they see events of no team, such as refused senders and failed sign-ins to
  unknown accounts.
- **New teams.** A user who is an Admin of the first team can create any number of teams. For other callers, the plan limits the
  number of teams: 3 (free), 20 (team) or 100 (enterprise). Teams that the new teams create count, too.
- **Activity.** Readers of an application see its changes (\`GET /applications/:id/activity\`) without IP addresses. Admins see all
  authors. Other readers see the names of current members only.

The server checks each call of the management API in this order. Lists contain only resources of the caller's teams.

${table(
  ['Check', 'Response'],
  [
    ['valid access token, or [cookie of the console](security.md#the-console)', '401 `unauthorized`'],
    ['rate of the client', '429 `rate_limited`'],
    ['existing id', '404 `not_found`'],
    ['team of the resource', '403 `not_in_team`'],
    ['role in the team', '403 `forbidden`'],
    ['recent sign-in', '401 `insufficient_user_authentication`'],
  ],
)}

## Management API

Each column lists the methods that need this role or a higher role. The mark † means *recent sign-in*: a user must have signed in
within the last ${maxSignInAge / 60} minutes. The mark ‡ means that only some changes need a recent sign-in. API keys are exempt.

API keys with the scope \`ingest-adopt\` may also call ${listEndpoints(managed.filter(({ access }) => access.scope))}.

${sections
  .map(([within, title, prefix, text]) => {
    const listed = managed.filter(({ access }) => access.within === within);
    return `### ${title}\n\n${text}\n\n${roleTable(prefix, listed)}`;
  })
  .join('\n\n')}

${hosts.map(([host, title]) => `## ${title}\n\n${credentialTable(endpoints[host])}`).join('\n\n')}

Preflights (\`OPTIONS\`) need no credential.
`;

test('docs/access.md matches the declarations of the endpoints', async () => {
  const all = Object.values(endpoints).flat();
  const names = all.map(({ method, path }) => `${method} ${path}`);
  expect(new Set(names).size).toBe(names.length);
  const known = sections.map(([within]) => String(within));
  expect(managed.filter(({ access }) => !known.includes(access.within))).toEqual([]);
  expect(managed.length + all.filter(needsCredential).length).toBe(all.length);
  await expect(document).toMatchFileSnapshot(join(import.meta.dirname, '../../docs/access.md'));
});
