import { auditEntries } from '../accounts/audit-log.ts';
import { parseQuery } from '../http/query.ts';
import type { Reply, Route } from '../http/types.ts';
import type { AccountStore } from '../store/accounts.ts';
import type { AuditEntry } from '../store/records.ts';
import { ok, timeText } from './answers.ts';
import type { ManageDeps } from './caller.ts';
import { readCursor, readLimit, writeCursor } from './lists.ts';
import { readTime } from './query-time.ts';
import { type Call, route } from './route.ts';

/** What the audit log is read from. */
export interface AuditDeps extends ManageDeps {
  readonly accounts: Pick<AccountStore, 'audit'>;
}

/** Entries that one page looks at: they may be of other teams, and then the page is shorter and goes on by its cursor. */
const maxRead = 10_000;
/** Entries that are read before other requests have a turn: it takes about a millisecond. */
const stride = 200;

/**
 * `GET /audit?from=&to=&action=&actor=`: who did what, when, from where, in the teams of the caller and to the service as
 * a whole; the latest first. `action` is one or its beginning (`application`), `actor` an id.
 */
export function auditRoutes(parts: AuditDeps): readonly Route[] {
  return [route(parts, 'GET /audit', (call) => list(parts, call))];
}

async function list({ accounts }: AuditDeps, { caller, request }: Call): Promise<Reply> {
  const query = parseQuery(request.query);
  const wanted = filterOf(query);
  const from = readTime(query, 'from') ?? 0;
  const limit = readLimit(query.get('limit'));
  const cursor = query.get('cursor');
  const isShown = (entry: AuditEntry) =>
    (entry.teamId === null || caller.teams.includes(entry.teamId)) && wanted(entry);
  const items: AuditEntry[] = [];
  let last = cursor === undefined ? undefined : readCursor(cursor);
  for (let read = 0; read < maxRead; read += stride) {
    const entries = auditEntries(accounts, last, stride);
    for (const entry of entries) {
      if (entry.at < from) return page(items, undefined);
      if (items.length === limit) return page(items, last);
      last = entry.number;
      if (isShown(entry)) items.push(entry);
    }
    if (entries.length < stride) return page(items, undefined);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return page(items, last);
}

function page(items: readonly AuditEntry[], last: number | undefined): Reply {
  return ok({ items: items.map(entryJson), nextCursor: last === undefined ? null : writeCursor(last) });
}

/** @throws {ApiError} `invalid_query` */
function filterOf(query: ReadonlyMap<string, string>): (entry: AuditEntry) => boolean {
  const to = readTime(query, 'to') ?? Number.POSITIVE_INFINITY;
  const action = query.get('action');
  const actor = query.get('actor');
  return (entry) =>
    entry.at < to &&
    (action === undefined || entry.action === action || entry.action.startsWith(`${action}.`)) &&
    (actor === undefined || entry.actor.id === actor);
}

function entryJson({ number, at, actor, action, teamId, target }: AuditEntry): object {
  return { id: String(number), at: timeText(at), actor, action, teamId, target };
}
