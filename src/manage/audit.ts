import { auditEntries } from '../accounts/audit-log.ts';
import { parseQuery } from '../http/query.ts';
import type { Reply, Route } from '../http/types.ts';
import type { AccountStore } from '../store/accounts.ts';
import type { AuditEntry } from '../store/records.ts';
import { ok, timeText } from './answers.ts';
import type { ManageParts } from './caller.ts';
import { readCursor, readLimit, writeCursor } from './lists.ts';
import { readTime } from './query-time.ts';
import { type Call, route } from './route.ts';

/** What the audit log is read from. */
export interface AuditParts extends ManageParts {
  readonly accounts: Pick<AccountStore, 'audit'>;
}

/** Entries that one page looks at: they may be of other teams, and then the page is shorter and goes on by its cursor. */
const mostRead = 10_000;

/**
 * `GET /audit?from=&to=&action=&actor=`: who did what, when, from where, in the teams of the caller and to the service as
 * a whole; the latest first. `action` is one or its beginning (`application`), `actor` an id.
 */
export function auditRoutes(parts: AuditParts): readonly Route[] {
  return [route(parts, 'GET /audit', (call) => list(parts, call))];
}

function list({ accounts }: AuditParts, { caller, request }: Call): Reply {
  const query = parseQuery(request.query);
  const wanted = filterOf(query);
  const from = readTime(query, 'from') ?? 0;
  const limit = readLimit(query.get('limit'));
  const cursor = query.get('cursor');
  const items: AuditEntry[] = [];
  let read = 0;
  let last: number | null = null;
  for (const entry of auditEntries(accounts, cursor === undefined ? undefined : readCursor(cursor))) {
    if (entry.at < from) return page(items, null);
    if (items.length === limit || read === mostRead) return page(items, last);
    read += 1;
    last = entry.number;
    if ((entry.teamId === null || caller.teams.includes(entry.teamId)) && wanted(entry)) items.push(entry);
  }
  return page(items, null);
}

function page(items: readonly AuditEntry[], last: number | null): Reply {
  return ok({ items: items.map(entryJson), nextCursor: last === null ? null : writeCursor(last) });
}

/** @throws {Refusal} `invalid_query` */
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
