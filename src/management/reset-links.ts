import type { AccountDraft } from '../accounts/account-draft.ts';
import { mustExist } from '../accounts/checks.ts';
import {
  draftLink,
  type NewLink,
  newLink,
  noLink,
  purposeFor,
  withdrawLink,
} from '../accounts/invitations.ts';
import { withoutPassword } from '../accounts/passwords.ts';
import { draftUserPatch } from '../accounts/users.ts';
import { invitationUrl } from '../auth/browser/invitation-page.ts';
import { endSessionsOf } from '../auth/oauth/sessions.ts';
import { ApiError } from '../contract/errors.ts';
import {
  InvitationShownOnce,
  type InvitationShownOnce as Issued,
  NewResetLink,
} from '../contract/shapes/invitation.ts';
import { noContent, ok } from '../http/answer.ts';
import { jsonAnswer } from '../http/endpoint.ts';
import { timeText } from '../runtime/rfc3339.ts';
import type { User } from '../storage/lmdb/records.ts';
import { done } from './answers.ts';
import { type Call, endpoint, type Group } from './endpoint.ts';
import type { Services } from './services.ts';
import { checkManagesAllOf } from './user-patch.ts';

const self = 'You cannot reset your own password; change it, or ask another Admin';

/** `/api/v2/users/{id}/reset-link` */
export const resetLinks: Group = {
  tag: 'Reset links',
  description: 'Links with which invited users accept, and others choose another password.',
  endpoints: [
    endpoint('POST /users/:id/reset-link', {
      access: { within: 'user', least: 'Admin', recent: true },
      operationId: 'createResetLink',
      summary: 'Make a link with which a user chooses a password',
      description: `Requires an Admin who is in all teams of the user. The link replaces the previous one, and is valid once: for a day, or
for \`--invitation-ttl\` if the user has not accepted their invitation. By default, the password and the sessions remain valid until it
is used. After a leak, \`endSessions\` ends them at once.`,
      body: NewResetLink,
      answers: { 200: jsonAnswer(InvitationShownOnce, 'The link.') },
      refuses: { conflict: self },
      async handle(call, services) {
        const { endSessions = false } = call.body;
        return ok(await changeManaged(call, (draft, user) => issue(services, draft, user, endSessions)));
      },
    }),
    endpoint('DELETE /users/:id/reset-link', {
      access: { within: 'user', least: 'Admin' },
      operationId: 'deleteResetLink',
      summary: 'Withdraw the link of a user',
      description: 'Requires an Admin who is in all teams of the user. It withdraws an invitation, too.',
      answers: { 204: done('The link is no longer valid.') },
      refuses: { conflict: self, not_found: noLink },
      async handle(call) {
        await changeManaged(call, (draft, user) => withdrawLink(draft, user, call.directory.clock.now()));
        return noContent;
      },
    }),
  ],
};

/** Changes a user whom the caller manages. @throws {ApiError} `conflict`, `forbidden`, `not_found` */
function changeManaged<T>(
  {
    directory,
    caller,
    callerIn,
    user: seen,
  }: Pick<Call<'', 'user'>, 'directory' | 'caller' | 'callerIn' | 'user'>,
  change: (draft: AccountDraft, user: User) => T,
): Promise<T> {
  if (seen.id === caller.id) throw new ApiError('conflict', self);
  return directory.change((draft) => {
    const user = mustExist('user', draft.users.get(seen.id));
    checkManagesAllOf(callerIn(draft), user);
    return change(draft, user);
  });
}

function issue(services: Services, draft: AccountDraft, seen: User, endSessions: boolean): Issued {
  const { clock, randomBytes } = services.directory;
  const { lifetimes } = services;
  const now = clock.now();
  const purpose = purposeFor(seen);
  const user = endSessions
    ? draftUserPatch(draft, seen, { passwordHash: withoutPassword(randomBytes) }, now)
    : seen;
  if (endSessions) endSessionsOf(services.directory, draft, user.id);
  const link = newLink(purpose, user.passwordHash, { randomBytes, now, lifetimes });
  draftLink(draft, user, link, now);
  return showNewLink(services, link);
}

export function showNewLink({ authUrl }: Services, { token, invitation }: NewLink): Issued {
  const { purpose, expiresAt } = invitation;
  return { purpose, expiresAt: timeText(expiresAt), url: invitationUrl(authUrl, token) };
}
