import { isInstallationAdmin } from '../accounts/installation.ts';
import { Unattributed, type UnattributedRefusalShown } from '../contract/shapes/ledger.ts';
import { ok } from '../http/answer.ts';
import { type Group, jsonAnswer } from '../http/endpoint.ts';
import type { Stranger, Strangers } from '../ingest/ledger/strangers.ts';
import { timeText } from './answers.ts';
import type { ManageDeps } from './caller.ts';
import { endpoint } from './endpoint.ts';

export interface UnattributedDeps extends ManageDeps {
  /** The last refusals of no application. */
  readonly strangers: Strangers;
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
      handle({ directory, caller }, { strangers }: UnattributedDeps) {
        const shown = isInstallationAdmin(directory, caller) ? strangers.latest : [];
        return ok({ items: shown.map(show) });
      },
    }),
  ],
};

function show({ at, ...stranger }: Stranger): UnattributedRefusalShown {
  return { ...stranger, at: timeText(at) };
}
