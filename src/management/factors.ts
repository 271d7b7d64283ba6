import { missing, nameRule } from '../accounts/checks.ts';
import { listPasskeys, removePasskey, renamePasskey } from '../accounts/passkeys.ts';
import { removeTotp } from '../accounts/second-factors.ts';
import { demandsSecondFactor } from '../accounts/sign-in-policy.ts';
import { Passkey, PasskeyList, PasskeyPatch } from '../contract/shapes/passkey.ts';
import { Totp } from '../contract/shapes/totp.ts';
import { jsonResponse } from '../http/endpoint.ts';
import { noContent, ok } from '../http/responses.ts';
import { timeText } from '../runtime/rfc3339.ts';
import type { Passkey as StoredPasskey } from '../storage/lmdb/auth-records.ts';
import { endpoint, type Group } from './endpoint.ts';
import { done } from './responses.ts';
import { checkManagesSignIn } from './users.ts';

export const passkeys: Group = {
  tag: 'Passkeys',
  description: 'The passkeys that users sign in with. A user adds a passkey at `/connect/passkey` of the auth host.',
  endpoints: [
    endpoint('GET /users/:id/passkeys', {
      access: { within: 'user', least: 'Admin', orSelf: true },
      operationId: 'listPasskeys',
      summary: 'List the passkeys of a user',
      responses: { 200: jsonResponse(PasskeyList, 'The passkeys.') },
      handle: ({ user }, { accountStore }) =>
        ok({ items: listPasskeys(accountStore, user.id).map(([id, passkey]) => show(id, passkey)) }),
    }),
    endpoint('PATCH /users/:id/passkeys/:passkeyId', {
      access: { within: 'user', least: 'Admin', orSelf: true },
      operationId: 'renamePasskey',
      summary: 'Rename a passkey',
      description: 'For another user, requires an Admin who is in all teams of the user.',
      body: PasskeyPatch,
      responses: { 200: jsonResponse(Passkey, 'The passkey after the change.') },
      refuses: { invalid_name: nameRule('a passkey'), not_found: missing('passkey') },
      async handle({ directory, callerIn, user, params: { passkeyId }, body: { name } }) {
        const renamed = await directory.change((tx) => {
          checkManagesSignIn(callerIn(tx), tx.users.get(user.id) ?? user);
          return renamePasskey(tx, user, passkeyId, name);
        });
        return ok(show(passkeyId, renamed));
      },
    }),
    endpoint('DELETE /users/:id/passkeys/:passkeyId', {
      access: { within: 'user', least: 'Admin', orSelf: true, recent: true },
      operationId: 'removePasskey',
      summary: 'Remove a passkey',
      description:
        'For another user, requires an Admin who is in all teams of the user. Sessions that began with the passkey continue.',
      responses: { 204: done('The passkey is removed. The user can no longer sign in with this passkey.') },
      refuses: { not_found: missing('passkey') },
      async handle({ directory, callerIn, user, params: { passkeyId } }) {
        await directory.change((tx) => {
          checkManagesSignIn(callerIn(tx), tx.users.get(user.id) ?? user);
          removePasskey(tx, user, passkeyId);
        });
        return noContent;
      },
    }),
  ],
};

function show(id: string, { name, backedUp, createdAt, lastUsedAt }: StoredPasskey): Passkey {
  return { id, name, backedUp, createdAt: timeText(createdAt), lastUsedAt: timeText(lastUsedAt) };
}

export const totp: Group = {
  tag: 'Two-step verification',
  description:
    'The authenticator apps of users (RFC 6238), and their recovery codes. A user sets up an app at `/connect/authenticator` of the auth host.',
  endpoints: [
    endpoint('GET /users/:id/totp', {
      access: { within: 'user', least: 'Admin', orSelf: true },
      operationId: 'getTotp',
      summary: 'Read the state of the authenticator app of a user',
      responses: { 200: jsonResponse(Totp, 'The state of two-step verification.') },
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
        'Users can remove their own authenticator app. An Admin can remove the app of another user, for example after the device was lost, if the Admin is in all teams of that user. If a policy demands a second factor, the user sets up another second factor at the next sign-in.',
      responses: { 204: done('The app is removed. The user signs in without a code.') },
      async handle({ directory, callerIn, user }) {
        await directory.change((tx) => {
          checkManagesSignIn(callerIn(tx), tx.users.get(user.id) ?? user);
          removeTotp(tx, user.id);
        });
        return noContent;
      },
    }),
  ],
};
