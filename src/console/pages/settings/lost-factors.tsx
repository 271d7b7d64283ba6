import type { Passkey } from '../../../contract/shapes/passkey.ts';
import type { Totp } from '../../../contract/shapes/totp.ts';
import type { User } from '../../../contract/shapes/user.ts';
import { call, resource } from '../../api/client.ts';
import { forget, usePoll } from '../../api/poll.ts';
import { ConfirmButton } from '../../parts/confirm.tsx';

/** Removes the factors of a user who has lost them; nothing for a user without any. */
export function LostFactors({ user: { id, name } }: { readonly user: User }) {
  const paths = { passkeys: resource('users', id, 'passkeys'), totp: resource('users', id, 'totp') };
  const passkeys = usePoll<{ items: readonly Passkey[] }>(paths.passkeys, 15_000).data?.items ?? [];
  const hasApp = usePoll<Totp>(paths.totp, 15_000).data?.enabled ?? false;
  if (passkeys.length === 0 && !hasApp) return null;
  return (
    <ConfirmButton
      danger
      label="Remove the factors"
      title={`Remove the passkeys and the authenticator app of ${name}`}
      action="Remove the factors"
      done={`The passkeys and the authenticator app of ${name} are removed`}
      onConfirm={async () => {
        for (const passkey of passkeys) await call('DELETE', `${paths.passkeys}/${passkey.id}`);
        if (hasApp) await call('DELETE', paths.totp);
        for (const path of Object.values(paths)) forget(path);
      }}
    >
      <p>
        For a user who has lost them. The password remains, and the sessions continue. If the policy demands a
        second factor, the next sign-in sets up another one.
      </p>
    </ConfirmButton>
  );
}
