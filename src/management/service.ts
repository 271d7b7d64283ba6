import { isInstallationAdmin } from '../accounts/teams.ts';
import { Deletion } from '../contract/shapes/deletion.ts';
import { Unattributed } from '../contract/shapes/ledger.ts';
import { ServiceStatus } from '../contract/shapes/status.ts';
import { ok } from '../http/answer.ts';
import { type Group, jsonAnswer, type Shown } from '../http/endpoint.ts';
import type { LatestUnattributed } from '../ingest/ledger/unattributed.ts';
import { page, timeText } from './answers.ts';
import type { ManageDeps } from './caller.ts';
import { endpoint } from './endpoint.ts';
import { cutPage, namePage, paging } from './lists.ts';

export interface StatusDeps extends ManageDeps {
  /** How the service does now. */
  status(): Shown<ServiceStatus>;
}

export const status: Group<StatusDeps> = {
  tag: 'Status',
  description: 'How the service does.',
  endpoints: [
    endpoint('GET /status', {
      access: { within: 'service', least: 'User' },
      operationId: 'readStatus',
      summary: 'Read how much comes in, what waits for the disk, and whether data is accepted',
      description:
        'Rates are those of the last ten seconds and of the whole service. `GET /metrics` has the same figures as counters.',
      answers: { 200: jsonAnswer(ServiceStatus, 'The status.') },
      handle: (_call, { status }: StatusDeps) => ok(status()),
    }),
  ],
};

export const deletions: Group<ManageDeps> = {
  tag: 'Deletions',
  description:
    'The data of a deleted application or environment is removed in the background. It is listed here until nothing is left; then the audit log has an entry.',
  endpoints: [
    endpoint('GET /deletions', {
      access: { within: 'service', least: 'User' },
      operationId: 'listDeletions',
      summary: 'List what is still being removed in your teams',
      query: paging,
      answers: { 200: page(Deletion, 'The order is fixed and has no meaning.') },
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

export interface UnattributedDeps extends ManageDeps {
  /** The last refusals of no application. */
  readonly latestUnattributed: LatestUnattributed;
}

export const unattributed: Group<UnattributedDeps> = {
  tag: 'Unattributed',
  description: 'What was refused and belongs to no application, as with a key that does not exist.',
  endpoints: [
    endpoint('GET /unattributed', {
      access: { within: 'service', least: 'Admin' },
      operationId: 'listUnattributed',
      summary: 'List the last refusals that no ledger shows',
      description:
        'The last kinds of refusals whose application is not known, since the start of the service: of a key that is misspelt or deleted, or of a body that cannot be read. Refusals with 503 are not among them.\n\nThey belong to no team and may come from the senders of any of them. Only the Admins of the first team, who run the installation, see them; for others the list is empty.',
      answers: { 200: jsonAnswer(Unattributed, 'The refusals.') },
      handle({ directory, caller }, { latestUnattributed }: UnattributedDeps) {
        const shown = isInstallationAdmin(directory, caller) ? latestUnattributed.latest : [];
        return ok({ items: shown.map(({ at, ...refusal }) => ({ ...refusal, at: timeText(at) })) });
      },
    }),
  ],
};
