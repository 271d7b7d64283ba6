import type { Accounts } from '../accounts/accounts.ts';
import { ok } from '../http/answer.ts';
import type { Group } from '../http/endpoint.ts';
import { jsonAnswer } from '../http/schema.ts';
import type { Stranger, Strangers } from '../ledger/strangers.ts';
import { timeText } from './answers.ts';
import type { Caller, ManageDeps } from './caller.ts';
import { endpoint } from './endpoint.ts';
import { Unattributed, type UnattributedRefusalShown } from './unattributed-shape.ts';

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
        'The last kinds of refusals whose application is not known, since the start of the service: of a key that is misspelt or deleted, or of a body that cannot be read. Refusals with 503 are not among them.\n\nThey belong to no team, so each Admin may read them. In a service with several teams they may be of senders of another one: who is not in every team sees neither `origin` nor `userAgent` nor `environment`.',
      answers: { 200: jsonAnswer(Unattributed, 'The refusals.') },
      handle({ directory, caller }, { strangers }: UnattributedDeps) {
        const whole = isInEveryTeam(caller, directory.teams);
        return ok({ items: strangers.latest.map((stranger) => show(stranger, whole)) });
      },
    }),
  ],
};

function isInEveryTeam({ teams }: Caller, all: Accounts['teams']): boolean {
  return [...all.keys()].every((id) => teams.includes(id));
}

/** @param whole with what tells whose sender it is */
function show({ at, ...stranger }: Stranger, whole: boolean): UnattributedRefusalShown {
  const hidden = whole ? {} : { origin: null, userAgent: null, environment: null };
  return { ...stranger, ...hidden, at: timeText(at) };
}
