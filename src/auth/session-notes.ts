import type { AccountDraft } from '../accounts/account-draft.ts';
import { actorOf } from '../accounts/actors.ts';

/** Records in the audit log that the reuse of a code or refresh token has ended its session. */
export function noteReuse(
  draft: AccountDraft,
  action: 'authorization-code.reused' | 'refresh-token.reused',
  userId: string,
): void {
  const { email: name = '', teams = [null] } = draft.users.get(userId) ?? {};
  for (const teamId of teams) draft.note(action, teamId, { type: 'user', id: userId, name });
}

/** Records in the audit log that a user or an API key invalidated their own tokens. */
export function noteEnd(
  draft: AccountDraft,
  action: 'token.invalidated' | 'session.ended',
  holderId: string,
): void {
  const { type, id, name } = actorOf(draft, holderId, '');
  const teams = draft.users.get(id)?.teams ?? [draft.apiKeys.get(id)?.teamId ?? null];
  for (const teamId of teams) draft.note(action, teamId, { type, id, name });
}
