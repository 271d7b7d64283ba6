import type { Directory } from '../accounts/directory.ts';
import type { Engine } from '../accounts/store/engine.ts';
import { temporary } from '../accounts/temporary-password.ts';
import { draftUserPatch, userOfEmail } from '../accounts/users.ts';
import { forgetFailures } from '../auth/login-throttle.ts';
import { endSessionsOf } from '../auth/sessions.ts';
import { Failure } from '../cli/failure.ts';
import type { PasswordRequest } from './password-requests.ts';

/**
 * Gives a user another password.
 * @param place where the users are, for an error
 * @throws {Failure} when there is no such user
 */
export async function applyReset(
  { engine, directory }: { readonly engine: Engine; readonly directory: Directory },
  place: string,
  { email, passwordHash, isTemporary }: PasswordRequest,
): Promise<void> {
  const user = userOfEmail(directory, email);
  if (user === undefined) {
    const known = `its administrators are ${administratorsOf(directory).join(', ')}`;
    throw new Failure(
      'notFound',
      `Cannot find ${email} in ${place}: no user has this e-mail address; ${known}`,
    );
  }
  const { clock } = directory;
  await directory.change((draft) => {
    const mark = isTemporary ? temporary(passwordHash) : {};
    draftUserPatch(draft, user, { passwordHash, ...mark }, clock.now());
    endSessionsOf({ clock }, draft, user.id);
  });
  await forgetFailures(engine.throttles);
}

/** Anyone who can write the data directory may know its administrators. */
function administratorsOf({ users }: Directory): string[] {
  return [...users.values()].filter(({ role }) => role === 'Admin').map(({ email }) => email);
}
