import { join } from 'node:path';
import { expect, test } from 'vitest';
import { authDescription, authHost, pageTokens } from '../../src/auth/auth-host.ts';
import { tokenInvalidation } from '../../src/auth/oauth/revocation.ts';
import { consoleSession } from '../../src/console/host/console-session.ts';
import { consolePages } from '../../src/console/host/pages.ts';
import { permissions, roles } from '../../src/contract/roles.ts';
import { maxSignInAge } from '../../src/contract/step-up.ts';
import type { Group } from '../../src/http/endpoint.ts';
import { exposition } from '../../src/http/exposition.ts';
import { health } from '../../src/http/health.ts';
import { metricsDocument } from '../../src/ingest/host/metrics-document.ts';
import { metricsHost } from '../../src/ingest/host/metrics-host.ts';
import { description } from '../../src/management/document.ts';
import { managementApi } from '../../src/management/management-api.ts';

const pages = consolePages({
  script: '',
  style: '',
  pages: {},
  files: [],
  docs: { pages: [], files: [] },
  content: () => new Uint8Array(),
});

const hosts: readonly (readonly [host: string, groups: readonly Group[]])[] = [
  ['Base', [...managementApi, tokenInvalidation, description, pages, consoleSession, exposition]],
  ['Auth', [...authHost, pageTokens, authDescription]],
  ['Metrics', [...metricsHost({ maxBody: 65_536, maxReport: 4_194_304 }), metricsDocument]],
  ['All', [health]],
];

/** The text before the table in docs/access.md. */
const introduction = `# Who may call what

Written from the declarations of the endpoints: after a change there, run \`npx vitest run test/docs -u\`.

People and API keys have a role in each of their teams:

| Role | May |
|---|---|
${roles.map((role) => `| ${role} | ${permissions[role]} |`).join('\n')}

A user has a default role, and a team may give them one of its own (\`PUT /teams/:id/members/:userId\`). Only another Admin of the
team can change it, and a team keeps at least one Admin. The default role is the claim \`role\` of tokens. Roles are read from the
accounts at each request, so a change applies to existing tokens. An endpoint without an id of a resource, such as the endpoint that
creates an application, checks the role in the team that the request names, or else in the primary team.

*Recent sign-in* means that a user must have signed in within the last ${maxSignInAge / 60} minutes ([semantics.md](semantics.md#teams-users-and-roles)).
API keys are exempt.

The management API checks each call in this order: 401 without a valid access token, or the cookie of the console instead ([oauth.md](oauth.md#the-console)); 429 over
the rate; 404 for an id that does not exist; 403 \`not_in_team\` for an id of a team that the caller is not in; 403 \`forbidden\`
without the required role in the team; and 401 \`insufficient_user_authentication\` after an old sign-in. Lists show only what belongs to the caller's teams.
\`test/management/matrix.test.ts\` has the status that each kind of caller gets.

The Admins and Admin API keys of the first team run the installation. \`init\` creates the first team; if it is
deleted, the oldest that remains. Only they see refused senders of no team (\`GET /unattributed\`) and, in the audit log, failed
sign-ins to unknown accounts and changes of the sign-in policy and of identity providers. An Admin of the first team who is signed in as a user creates teams without a limit. All others,
API keys included, have a plan limit: 3, 20 or 100 teams on the plan free, team or enterprise. Teams that those teams create
count against the same limit.

The activity of an application (\`GET /applications/:id/activity\`) shows its changes to everyone who may read it, without the addresses that the audit
log has. Admins see the name of each author. Others see those of the current members of the team, whom they can list, and their own. An API key
or a former member is shown without a name. Sign-ins, members and the settings of the team are not in the activity.

| Host | Endpoint | Credential | Who may call it |
|---|---|---|---|
`;

test('docs/access.md matches the declarations of the endpoints', async () => {
  const rows = hosts.flatMap(([host, groups]) =>
    groups
      .flatMap(({ endpoints }) => endpoints)
      .map(({ method, path, access }) => `| ${host} | \`${method} ${path}\` | ${access.credential} | ${access.who} |`),
  );
  expect(new Set(rows).size).toBe(rows.length);
  const document = `${introduction}${rows.join('\n')}\n`;
  await expect(document).toMatchFileSnapshot(join(import.meta.dirname, '../../docs/access.md'));
});
