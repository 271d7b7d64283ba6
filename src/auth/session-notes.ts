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
  const user = directory.users.get(userId);
  return directory
    .by(anonymous(remoteAddress))
    .change((draft) =>
      draft.note(action, user?.primaryTeam ?? null, { type: 'user', id: userId, name: user?.email ?? '' }),
    );
}

/** Writes into the audit log that a user, or an API key, made his own tokens invalid. */
export function noteEnd(
  directory: Directory,
  action: 'token.invalidated' | 'session.ended',
  holderId: string,
  { remoteAddress }: Request,
): Promise<void> {
  const actor = actorOf(directory, holderId, remoteAddress);
  const { type, id, name } = actor;
  const teamId = directory.users.get(id)?.primaryTeam ?? directory.apiKeys.get(id)?.teamId ?? null;
  return directory.by(actor).change((draft) => draft.note(action, teamId, { type, id, name }));
}
