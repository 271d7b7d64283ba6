import { join } from 'node:path';
import { expect, test } from 'vitest';
import { authDescription, authHost, pageTokens } from '../../src/auth/auth-host.ts';
import { tokenInvalidation } from '../../src/auth/invalidate-token.ts';
import { consoleSession } from '../../src/console/host/console-session.ts';
import { consolePages } from '../../src/console/host/pages.ts';
import type { Group } from '../../src/http/endpoint.ts';
import { exposition } from '../../src/http/exposition.ts';
import { health } from '../../src/http/health.ts';
import { description } from '../../src/management/document.ts';
import { managementApi } from '../../src/management/management-api.ts';
import { metricsDocument, metricsHost } from '../../src/serve/metrics-host.ts';

const pages = consolePages({ script: '', style: '', files: [] });

const hosts: readonly (readonly [host: string, groups: readonly Group[]])[] = [
  ['Base', [...managementApi, tokenInvalidation, description, pages, consoleSession, exposition]],
  ['Auth', [...authHost, pageTokens, authDescription]],
  ['Metrics', [...metricsHost({ maxBody: 65_536, maxReport: 4_194_304 }), metricsDocument]],
  ['All', [health]],
];

/** The text before the table. */
const introduction = `# Who may call what

Written from the declarations of the endpoints: after a change there, run \`npx vitest run test/docs -u\`.

Users and Admins are members of teams: people with a token, or API keys with that role. The management API checks each call in
this order: 401 without a valid access token, or the cookie of the console instead ([oauth.md](oauth.md#the-console)); 429 over
the rate; 404 for an id that does not exist; 403 \`not_in_team\` for an id of a team that the caller is not in; 403 \`forbidden\`
for a User where an Admin is required. Lists show only what belongs to the caller's teams.
\`test/management/matrix.test.ts\` has the status that each kind of caller gets.

The Admins and Admin API keys of the first team run the installation. The first team is the one that \`init\` creates; if it is
deleted, the oldest that remains. Only they see refused senders of no team (\`GET /unattributed\`) and, in the audit log, failed
sign-ins to unknown accounts. An Admin of the first team who is signed in as a user creates teams without a limit. All others,
API keys included, have a plan limit: 3, 20 or 100 teams on the plan free, team or enterprise. Teams that those teams create
count against the same limit.

| Host | Endpoint | Credential | Who may call it |
|---|---|---|---|
`;

test('docs/access.md matches the declarations of the endpoints', async () => {
  const rows = hosts.flatMap(([host, groups]) =>
    groups
      .flatMap(({ endpoints }) => endpoints)
      .map(
        ({ method, path, access }) =>
          `| ${host} | \`${method} ${path}\` | ${access.credential} | ${access.who} |`,
      ),
  );
  expect(new Set(rows).size).toBe(rows.length);
  const document = `${introduction}${rows.join('\n')}\n`;
  await expect(document).toMatchFileSnapshot(join(import.meta.dirname, '../../docs/access.md'));
});
