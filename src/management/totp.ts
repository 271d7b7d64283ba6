import { removeTotp } from '../accounts/second-factors.ts';
import { demandsSecondFactor } from '../accounts/sign-in-policy.ts';
import { Totp } from '../contract/shapes/totp.ts';
import { noContent, ok } from '../http/answer.ts';
import { jsonAnswer } from '../http/endpoint.ts';
import { timeText } from '../runtime/rfc3339.ts';
import { done } from './answers.ts';
import { endpoint, type Group } from './endpoint.ts';
import { checkManagesSignIn } from './user-patch.ts';

export const totp: Group = {
  tag: 'Two-step verification',
  description:
    'The authenticator apps of users (RFC 6238), and their recovery codes. A user sets one up at `/connect/authenticator` of the auth host.',
  endpoints: [
    endpoint('GET /users/:id/totp', {
      access: { within: 'user', least: 'Admin', orSelf: true },
      operationId: 'getTotp',
      summary: 'Read whether a user has an authenticator app',
      answers: { 200: jsonAnswer(Totp, 'The state of two-step verification.') },
      handle({ user }, { accountStore }) {
        const totp = accountStore.get('totp', user.id);
        return ok({
          enabled: totp !== undefined,
          required: demandsSecondFactor(accountStore, user),
          createdAt: timeText(totp?.createdAt ?? null),
          lastUsedAt: timeText(totp?.lastUsedAt ?? null),
          recoveryCodes: totp?.recoveryCodes.length ?? 0,
        });
      },
    }),
    endpoint('DELETE /users/:id/totp', {
      access: { within: 'user', least: 'Admin', orSelf: true, recent: true },
      operationId: 'removeTotp',
      summary: 'Remove the authenticator app of a user, with the recovery codes',
      description:
        'For example if it is lost. For another user, requires an Admin who is in all teams of the user. If a policy demands a second factor, the user sets up another one at the next sign-in.',
      answers: { 204: done('It is removed. The user signs in without it.') },
      async handle({ directory, callerIn, user }) {
        await directory.change((draft) => {
          checkManagesSignIn(callerIn(draft), draft.users.get(user.id) ?? user);
          removeTotp(draft, user.id);
        });
        return noContent;
      },
    }),
  ],
};
