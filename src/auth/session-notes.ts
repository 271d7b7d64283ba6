import { actorOf, anonymous } from '../accounts/actors.ts';
import type { Directory } from '../accounts/directory.ts';
import type { Request } from '../http/types.ts';

/** Writes into the audit log that a code or refresh token came again, which has ended its session: who brings it is unknown. */
export function noteReuse(
  directory: Directory,
  action: 'authorization-code.reused' | 'refresh-token.reused',
  userId: string,
  { remoteAddress }: Request,
): Promise<void> {
  const { email: name = '', teams = [null] } = directory.users.get(userId) ?? {};
  return directory.by(anonymous(remoteAddress)).change((draft) => {
    for (const teamId of teams) draft.note(action, teamId, { type: 'user', id: userId, name });
  });
}

/** Writes into the audit log that a user, or an API key, made tokens of their own invalid. */
export function noteEnd(
  directory: Directory,
  action: 'token.invalidated' | 'session.ended',
  holderId: string,
  { remoteAddress }: Request,
): Promise<void> {
  const actor = actorOf(directory, holderId, remoteAddress);
  const { type, id, name } = actor;
  const teams = directory.users.get(id)?.teams ?? [directory.apiKeys.get(id)?.teamId ?? null];
  return directory.by(actor).change((draft) => {
    for (const teamId of teams) draft.note(action, teamId, { type, id, name });
  });
}
