import { mustExist, tooMany } from '../accounts/checks.ts';
import { getPreferences, putPreferences } from '../accounts/preferences.ts';
import { Refusal } from '../contract/errors.ts';
import { maxColumnPages, Preferences, PreferencesPatch } from '../contract/shapes/preferences.ts';
import { jsonResponse } from '../http/endpoint.ts';
import { ok } from '../http/responses.ts';
import type { Caller } from './access.ts';
import { endpoint, type Group } from './endpoint.ts';

const usersOnly = 'API keys do not have preferences';

export const preferences: Group = {
  tag: 'Preferences',
  description: 'Display preferences for the console, separate for each user.',
  endpoints: [
    endpoint('GET /users/me/preferences', {
      access: { within: 'service', least: 'Viewer' },
      operationId: 'getPreferences',
      summary: 'Read your preferences',
      responses: { 200: jsonResponse(Preferences, 'The preferences of the user of the token.') },
      refuses: { forbidden: usersOnly },
      handle({ directory, caller }) {
        checkUser(caller);
        return ok(getPreferences(mustExist('user', directory.users.get(caller.id))));
      },
    }),
    endpoint('PATCH /users/me/preferences', {
      access: { within: 'service', least: 'Viewer' },
      operationId: 'changePreferences',
      summary: 'Change your preferences',
      description: 'Changes the given fields. Preferences are neither in the audit log nor in webhooks.',
      body: PreferencesPatch,
      responses: { 200: jsonResponse(Preferences, 'The preferences after the change.') },
      refuses: { forbidden: usersOnly, plan_limit: tooMany('pages with selected columns', maxColumnPages) },
      async handle({ directory, caller, body }) {
        checkUser(caller);
        const changed = await directory.change((tx) =>
          putPreferences(tx, mustExist('user', tx.users.get(caller.id)), body),
        );
        return ok(changed);
      },
    }),
  ],
};

/** @throws {Refusal} `forbidden` */
function checkUser({ apiKey }: Caller): void {
  if (apiKey !== undefined) throw new Refusal('forbidden', usersOnly);
}
