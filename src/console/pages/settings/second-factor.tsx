import type { Passkey } from '../../../contract/shapes/passkey.ts';
import type { Totp } from '../../../contract/shapes/totp.ts';
import type { User } from '../../../contract/shapes/user.ts';
import { call, resource } from '../../api/client.ts';
import { forget, usePoll } from '../../api/poll.ts';
import { settings } from '../../api/settings.ts';
import { Reason } from '../../parts/failure.tsx';
import { ConfirmButton } from '../../parts/form/confirm.tsx';
import { Part } from '../../parts/resource/part.tsx';
import { format } from '../../text/format.ts';

interface SecondFactorProps {
  readonly id: string;
  /** True if it is the reader's. It is set up on a page of the auth host, which asks for a recent sign-in. */
  readonly own?: boolean;
}

/** The authenticator app of a user. */
export function SecondFactor({ id, own = false }: SecondFactorProps) {
  const path = resource('users', id, 'totp');
  const { data, error } = usePoll<Totp>(path, 15_000);
  return (
    <Part
      title="Two-step verification"
      help="oauth#two-step-verification"
      note="With an authenticator app, signing in with the password also needs a code."
    >
      <Reason error={data === undefined ? error : undefined} />
      {data !== undefined && <State totp={data} />}
      {data !== undefined && (
        <p class="actions">
          {own && (
            <a class="button" href={`${settings.authUrl}/connect/authenticator`}>
              {data.enabled ? 'Get new recovery codes' : 'Set up an authenticator app'}
            </a>
          )}
          {data.enabled && <Remove path={path} required={data.required} />}
        </p>
      )}
    </Part>
  );
}

function State({ totp: { enabled, required, createdAt, recoveryCodes } }: { readonly totp: Totp }) {
  if (enabled)
    return (
      <p>
        An authenticator app is set up since {format.time(createdAt!)}.{' '}
        <span class={recoveryCodes < 3 ? 'warn' : ''}>Recovery codes left: {recoveryCodes}.</span>
      </p>
    );
  return (
    <p>
      No authenticator app is set up.{required && ' A policy requires a second factor at the next sign-in.'}
    </p>
  );
}

function Remove({ path, required }: { readonly path: string; readonly required: boolean }) {
  return (
    <ConfirmButton
      danger
      label="Remove the authenticator app"
      title="Remove the authenticator app"
      action="Remove it"
      done="The authenticator app is removed"
      onConfirm={async () => {
        await call('DELETE', path);
        forget(path);
      }}
    >
      <p>
        The recovery codes are removed too.
        {required
          ? ' A new app must be set up at the next sign-in.'
          : ' The password alone is enough to sign in.'}
      </p>
    </ConfirmButton>
  );
}

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
