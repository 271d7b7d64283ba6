import { isInstallationAdmin } from '../accounts/teams.ts';
import { surplusName } from '../contract/names.ts';
import { Deletion } from '../contract/shapes/deletion.ts';
import { type RefusedToken, UnattributedReport } from '../contract/shapes/ledger.ts';
import { ServiceStatus } from '../contract/shapes/status.ts';
import { jsonResponse } from '../http/endpoint.ts';
import { cutPage, namePage, paging } from '../http/lists.ts';
import { ok } from '../http/responses.ts';
import { timeText } from '../runtime/rfc3339.ts';
import { ledgerEntries, noApplication } from '../storage/lmdb/ledger.ts';
import type { UsageTables } from '../storage/lmdb/usage.ts';
import { endpoint, type Group } from './endpoint.ts';
import { page } from './responses.ts';

export const status: Group = {
  tag: 'Status',
  description: 'The state of the service.',
  endpoints: [
    endpoint('GET /status', {
      access: { within: 'service', least: 'Viewer' },
      operationId: 'readStatus',
      summary: 'Read the rates, the queues and the acceptance of data',
      description:
        'Rates are averages of the last ten seconds for the whole service. `GET /metrics` has the same figures as counters.',
      responses: { 200: jsonResponse(ServiceStatus, 'The status.') },
      handle: (_call, { status }) => ok(status()),
    }),
  ],
};

export const deletions: Group = {
  tag: 'Deletions',
  description:
    'The data of a deleted application or environment is removed in the background. The deletion is listed here until all data is removed. Then the audit log has an entry.',
  endpoints: [
    endpoint('GET /deletions', {
      access: { within: 'service', least: 'Viewer' },
      operationId: 'listDeletions',
      summary: 'List the deletions in progress in your teams',
      query: paging,
      responses: { 200: page(Deletion, 'The order is constant but arbitrary.') },
      handle({ directory, caller, query }) {
        const own = [...directory.deletions].filter(([, { teamId }]) => caller.teams.includes(teamId));
        const { items, nextCursor } = cutPage(own, namePage(query), ([key]) => key);
        const shown = items.map(([, deletion]) => ({
          target: deletion.target,
          teamId: deletion.teamId,
          requestedAt: timeText(deletion.requestedAt),
        }));
        return ok({ items: shown, nextCursor });
      },
    }),
  ],
};

export const unattributed: Group = {
  tag: 'Unattributed',
  description: 'Refused messages without a known application, for example with an unknown key.',
  endpoints: [
    endpoint('GET /unattributed', {
      access: { within: 'service', least: 'Admin' },
      operationId: 'listUnattributed',
      summary: 'List the latest refusals that are not in a ledger',
      description:
        'The latest kinds of refusals without a known application, since the start of the service: for example with a misspelt or deleted key, or an unreadable body. Refusals with 503 are excluded. `tokens` are tokens of Unleash that no application has adopted. The ledger keeps them, also across a restart.\n\nRefusals can come from the senders of any team. Only the Admins of the first team, who run the installation, see these refusals. For other callers the list is empty.',
      responses: { 200: jsonResponse(UnattributedReport, 'The refusals.') },
      handle({ directory, caller }, { latestUnattributed, store }) {
        if (!isInstallationAdmin(directory, caller)) return ok({ items: [], tokens: [] });
        const items = latestUnattributed.latest.map(({ at, ...refusal }) => ({ ...refusal, at: timeText(at) }));
        return ok({ items, tokens: refusedTokens(store, directory.clock.now()) });
      },
    }),
  ],
};

const hourMs = 3_600_000;
const hours = 24;
const maxShown = 50;

/** Returns the Unleash tokens refused in the last day. The ledger limits their number per hour. @param now Unix ms */
function refusedTokens(store: UsageTables, now: number): RefusedToken[] {
  const last = Math.floor(now / hourMs) + 1;
  const found = new Map<
    string,
    { token: string; sender: string | null; count: number; since: number; lastAt: number }
  >();
  for (const { hour, dimensions, count, lastAt } of ledgerEntries(store, noApplication, last - hours, last + 1)) {
    const token = dimensions.instance ?? surplusName;
    const sender = dimensions.userAgent;
    const name = JSON.stringify([token, sender]);
    const before = found.get(name);
    found.set(name, {
      token,
      sender,
      count: count + (before?.count ?? 0),
      since: Math.min(hour * hourMs, before?.since ?? Number.POSITIVE_INFINITY),
      lastAt: Math.max(lastAt, before?.lastAt ?? 0),
    });
  }
  return [...found.values()]
    .sort((a, b) => b.lastAt - a.lastAt)
    .slice(0, maxShown)
    .map(({ since, lastAt, ...token }) => ({ ...token, since: timeText(since), lastAt: timeText(lastAt) }));
}
