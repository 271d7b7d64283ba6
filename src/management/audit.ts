import Type from 'typebox';
import { auditEntries, findApplicationId, showEntry } from '../accounts/audit-log.ts';
import { isInstallationAdmin } from '../accounts/teams.ts';
import { AuditEntry } from '../contract/shapes/audit-entry.ts';
import { type Page, text } from '../contract/shapes/fields.ts';
import { paging, readCursor, writeCursor } from '../http/lists.ts';
import type { QueryOf } from '../http/query-reader.ts';
import { ok } from '../http/responses.ts';
import { range } from '../reports/usage/report-range.ts';
import type { AuditEntry as StoredEntry } from '../storage/lmdb/records.ts';
import { endpoint, type Group } from './endpoint.ts';
import { page } from './responses.ts';
import type { Services } from './services.ts';

const filters = {
  action: Type.Optional(
    text('Only this action, such as `application.created`, or actions of this kind, such as `application`.'),
  ),
  actor: Type.Optional(text('Only actions of the user or API key with this id.')),
  application: Type.Optional(text('Only actions on the application with this id, and on its resources.')),
};

export const audit: Group = {
  tag: 'Audit',
  description: 'Actions with their actor, time and address. Entries are never changed or removed.',
  endpoints: [
    endpoint('GET /audit', {
      access: { within: 'service', least: 'Admin' },
      operationId: 'listAuditEntries',
      summary: 'Read the audit log of the teams that you are an Admin of, and of the service',
      description:
        'A page can be short or empty without being the last page. Failed sign-ins to accounts that do not exist, and changes of the installation, do not belong to a team. Only the Admins of the first team, who run the installation, see these entries.',
      query: { ...paging, ...range, ...filters },
      responses: { 200: page(AuditEntry, 'The latest entry comes first.') },
      async handle({ directory, caller, query }, { accounts }) {
        const isWanted = createFilter(query);
        const runsInstallation = isInstallationAdmin(directory, caller);
        const isShown = ({ teamId, actor }: StoredEntry) =>
          teamId === null ? runsInstallation || actor.type === 'system' : caller.roleIn(teamId) === 'Admin';
        return ok(await readPage(accounts, query, (entry) => isShown(entry) && isWanted(entry)));
      },
    }),
  ],
};

type AuditQuery = QueryOf<typeof paging & typeof range & typeof filters>;

/** Maximum number of entries read for one page. If most entries belong to other teams, the page is shorter. */
const maxRead = 10_000;
/** Number of entries to read between two pauses. Reading them takes about a millisecond. */
const stride = 200;

async function readPage(
  accounts: Services['accounts'],
  { from = 0, limit, cursor }: AuditQuery,
  isShown: (entry: StoredEntry) => boolean,
): Promise<Page<AuditEntry>> {
  const items: AuditEntry[] = [];
  let last = cursor === undefined ? undefined : readCursor(cursor);
  const upTo = (position: number | undefined) => ({
    items,
    nextCursor: position === undefined ? null : writeCursor(position),
  });
  for (let read = 0; read < maxRead; read += stride) {
    const entries = auditEntries(accounts, last, stride);
    for (const entry of entries) {
      if (entry.at < from) return upTo(undefined);
      if (items.length === limit) return upTo(last);
      last = entry.number;
      if (isShown(entry)) items.push(showEntry(entry));
    }
    if (entries.length < stride) return upTo(undefined);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return upTo(last);
}

function createFilter({ to = Infinity, action, actor, application }: AuditQuery): (entry: StoredEntry) => boolean {
  return (entry) =>
    entry.at < to &&
    (action === undefined || entry.action === action || entry.action.startsWith(`${action}.`)) &&
    (actor === undefined || entry.actor.id === actor) &&
    (application === undefined || findApplicationId(entry) === application);
}
