import { useSignal } from '@preact/signals';
import { formatFactors } from '../../../contract/resources/columns.ts';
import type { LinkedIdentities, LinkedIdentity } from '../../../contract/shapes/identity-provider.ts';
import type { Passkey } from '../../../contract/shapes/passkey.ts';
import type { SignInSessions } from '../../../contract/shapes/session.ts';
import type { Totp } from '../../../contract/shapes/totp.ts';
import type { User } from '../../../contract/shapes/user.ts';
import { maxPasskeys, relyingPartyId } from '../../../contract/sign-in.ts';
import { call, resource } from '../../api/client.ts';
import { forget, usePoll } from '../../api/poll.ts';
import { settings } from '../../api/settings.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Reason } from '../../components/failure.tsx';
import { ConfirmButton } from '../../components/form/confirm.tsx';
import { Field, Form } from '../../components/form/form.tsx';
import { Section } from '../../components/resource/part.tsx';
import { Ago, actionsColumn, Time } from '../../components/table/columns.tsx';
import { Table } from '../../components/table/table.tsx';
import { format } from '../../text/format.ts';

/** Deletes a thing, and rereads the list that contained it. */
async function remove(list: string, thing: string): Promise<void> {
  await call('DELETE', thing);
  forget(list);
}

/** The second factor of the reader. A page of the auth host sets it up after a recent sign-in. */
export function SecondFactor({ id }: { readonly id: string }) {
  const path = resource('users', id, 'totp');
  const { data, error } = usePoll<Totp>(path, 15_000);
  return (
    <Section
      title="Two-step verification"
      help="security#two-step-verification"
      note="With an authenticator app, signing in with the password also needs a code."
    >
      <Reason error={data === undefined ? error : undefined} />
      {data !== undefined && <State totp={data} />}
      {data !== undefined && (
        <p class="actions">
          <a class="button" href={`${settings.authUrl}/connect/authenticator`}>
            {data.enabled ? 'Get new recovery codes' : 'Set up authenticator app'}
          </a>
          {data.enabled && <Remove path={path} required={data.required} />}
        </p>
      )}
    </Section>
  );
}

function State({ totp: { enabled, required, createdAt, recoveryCodes } }: { readonly totp: Totp }) {
  if (enabled)
    return (
      <p>
        An authenticator app was set up on {format.time(createdAt!)}.{' '}
        <span class={recoveryCodes < 3 ? 'warn' : ''}>Recovery codes left: {recoveryCodes}.</span>
      </p>
    );
  return <p>No authenticator app is set up.{required && ' A policy requires a second factor at the next sign-in.'}</p>;
}

function Remove({ path, required }: { readonly path: string; readonly required: boolean }) {
  return (
    <ConfirmButton
      danger
      label="Remove authenticator app"
      title="Remove authenticator app"
      action="Remove authenticator app"
      done="Authenticator app removed"
      onConfirm={() => remove(path, path)}
    >
      <p>
        The recovery codes are removed too.
        {required ? ' A new app must be set up at the next sign-in.' : ' The password alone is enough to sign in.'}
      </p>
    </ConfirmButton>
  );
}

/** A button that removes the lost factors of a user. Renders nothing if the user has no factors. */
export function LostFactors({ user: { id, name } }: { readonly user: User }) {
  const paths = { passkeys: resource('users', id, 'passkeys'), totp: resource('users', id, 'totp') };
  const passkeys = usePoll<{ items: readonly Passkey[] }>(paths.passkeys, 15_000).data?.items ?? [];
  const hasApp = usePoll<Totp>(paths.totp, 15_000).data?.enabled ?? false;
  if (passkeys.length === 0 && !hasApp) return null;
  return (
    <ConfirmButton
      danger
      label="Remove factors"
      title={`Remove passkeys and authenticator app of ${name}`}
      action="Remove factors"
      done={`Removed passkeys and authenticator app of ${name}`}
      onConfirm={async () => {
        for (const passkey of passkeys) await call('DELETE', `${paths.passkeys}/${passkey.id}`);
        if (hasApp) await call('DELETE', paths.totp);
        for (const path of Object.values(paths)) forget(path);
      }}
    >
      <p>
        Use this if the user has lost a passkey or the app. The password remains, and the sessions continue. If the
        policy demands a second factor, the next sign-in sets up another one.
      </p>
    </ConfirmButton>
  );
}

const isPossible = relyingPartyId(settings.authUrl) !== undefined;

const impossible =
  'Browsers allow passkeys only at an https address with a host name, or on localhost. The operator must set --auth-url to such an address.';

/** The passkeys of the reader. A page of the auth host adds passkeys, because browsers bind passkeys to a host. */
export function Passkeys({ id }: { readonly id: string }) {
  const path = resource('users', id, 'passkeys');
  const { data, error } = usePoll<{ items: readonly Passkey[] }>(path, 15_000);
  const items = data?.items ?? [];
  return (
    <Section
      title="Passkeys"
      help="security#passkeys"
      note="Sign in with your fingerprint, your face or the PIN of your device, instead of your password."
    >
      <Reason error={data === undefined ? error : undefined} />
      {items.length > 0 && <PasskeyTable items={items} path={path} />}
      {isPossible && items.length < maxPasskeys && (
        <p class="actions">
          <a class="button" href={`${settings.authUrl}/connect/passkey`}>
            Add passkey
          </a>
        </p>
      )}
      {!isPossible && <p class="callout callout-note">{impossible}</p>}
    </Section>
  );
}

function PasskeyTable({ items, path }: { readonly items: readonly Passkey[]; readonly path: string }) {
  return (
    <Table
      stacked
      caption="Passkeys"
      rows={items}
      rowKey={({ id }) => id}
      columns={[
        { key: 'name', title: 'Name', cell: ({ name }) => name },
        { key: 'backedUp', title: 'Kept', cell: ({ backedUp }) => (backedUp ? 'Synced' : 'On one device') },
        { key: 'createdAt', title: 'Since', cell: ({ createdAt }) => <Time at={createdAt} /> },
        { key: 'lastUsedAt', title: 'Last used', cell: ({ lastUsedAt }) => <Ago at={lastUsedAt} never="Never" /> },
        actionsColumn<Passkey>((passkey) => <Actions passkey={passkey} path={path} />),
      ]}
    />
  );
}

function Actions({ passkey: { id, name }, path }: { readonly passkey: Passkey; readonly path: string }) {
  const isRenaming = useSignal(false);
  const own = `${path}/${id}`;
  const close = () => (isRenaming.value = false);
  return (
    <div class="actions">
      <button type="button" aria-label={`Rename passkey ${name}`} onClick={() => (isRenaming.value = true)}>
        Rename …
      </button>
      {isRenaming.value && (
        <Dialog title={`Rename passkey ${name}`} onClose={close}>
          <Form
            submit="Save name"
            done="Name saved"
            codes={{ invalid_name: 'name' }}
            onCancel={close}
            onSubmit={async (data) => {
              await call('PATCH', own, { body: { name: data.get('name') } });
              forget(path);
              close();
            }}
          >
            <Field name="name" label="Name" value={name} required autoFocus autocomplete="off" />
          </Form>
        </Dialog>
      )}
      <ConfirmButton
        label="Remove"
        title={`Remove passkey ${name}`}
        action="Remove passkey"
        done={`Removed passkey ${name}`}
        onConfirm={() => remove(path, own)}
      >
        <p>
          This passkey can no longer be used to sign in. Your sessions continue. Also delete the passkey from your
          device.
        </p>
      </ConfirmButton>
    </div>
  );
}

interface IdentitiesProps {
  readonly id: string;
  /** True if these are the reader's own accounts, which a page of the auth host links after a recent sign-in. */
  readonly own?: boolean;
}

/**
 * Lists the accounts at identity providers with which a user signs in. Renders nothing if the user has no such
 * accounts.
 */
export function Identities({ id, own = false }: IdentitiesProps) {
  const path = resource('users', id, 'identities');
  const { data } = usePoll<LinkedIdentities>(path, 60_000);
  const { items = [], linkable = false } = data ?? {};
  if (items.length === 0 && !(own && linkable)) return null;
  return (
    <Section
      title="Linked accounts"
      note={`Accounts at identity providers that ${own ? 'you sign' : 'the user signs'} in with.`}
    >
      {items.length > 0 && (
        <Table
          stacked
          caption="Linked accounts"
          rows={items}
          rowKey={(linked) => linked.id}
          columns={[
            { key: 'provider', title: 'Provider', cell: ({ provider }) => provider },
            { key: 'email', title: 'E-mail', cell: ({ email }) => email ?? 'Unknown' },
            { key: 'linkedAt', title: 'Since', cell: ({ linkedAt }) => <Time at={linkedAt} /> },
            { key: 'lastUsedAt', title: 'Last used', cell: ({ lastUsedAt }) => <Ago at={lastUsedAt} /> },
            actionsColumn<LinkedIdentity>((linked) => (
              <ConfirmButton
                label="Unlink"
                title={`Unlink account at ${linked.provider}`}
                action="Unlink account"
                done={`Unlinked account at ${linked.provider}`}
                onConfirm={() => remove(path, `${path}/${linked.id}`)}
              >
                <p>The account can no longer be used for signing in. Existing sessions continue.</p>
              </ConfirmButton>
            )),
          ]}
        />
      )}
      {own && linkable && (
        <p class="actions">
          <a class="button" href={`${settings.authUrl}/connect/identities`}>
            Link account
          </a>
        </p>
      )}
    </Section>
  );
}

export function Sessions({ id, note }: { readonly id: string; readonly note: string }) {
  const path = resource('users', id, 'sessions');
  const { data, error } = usePoll<{ items: readonly SignInSessions[] }>(path, 15_000);
  const items = data?.items ?? [];
  const others = items.filter(({ current }) => !current);
  return (
    <Section title="Sessions" help="security#sessions" note={note}>
      <Reason error={data === undefined ? error : undefined} />
      <Table
        stacked
        caption="Sessions"
        rows={items}
        rowKey={({ signIn }) => signIn}
        columns={[
          {
            key: 'what',
            title: 'Signed in to',
            cell: ({ sessions, current }) => (
              <span>
                {format.list([...new Set(sessions.map(({ clientName }) => clientName))])}
                {current && <strong> (this one)</strong>}
              </span>
            ),
          },
          {
            key: 'device',
            title: 'Device',
            cell: ({ device, userAgent }) => <span title={userAgent}>{device || 'Unknown'}</span>,
          },
          { key: 'factors', title: 'Factors', cell: (signIn) => formatFactors(signIn) },
          { key: 'startedAt', title: 'Since', cell: ({ startedAt }) => <Time at={startedAt} /> },
          { key: 'lastUsedAt', title: 'Last used', cell: ({ lastUsedAt }) => <Ago at={lastUsedAt} /> },
          actionsColumn<SignInSessions>((each) => !each.current && <EndSessions label="End" path={path} of={[each]} />),
        ]}
      />
      {others.length > 0 && <EndSessions label="End all other sessions" path={path} of={others} danger />}
    </Section>
  );
}

interface EndProps {
  readonly label: string;
  readonly danger?: boolean;
  readonly path: string;
  readonly of: readonly SignInSessions[];
}

function EndSessions({ label, danger = false, of: ended, path }: EndProps) {
  const [first] = ended;
  return (
    <ConfirmButton
      label={label}
      danger={danger}
      title={danger ? label : `End session since ${format.time(first!.startedAt)}`}
      action={ended.length === 1 ? 'End session' : 'End sessions'}
      done={ended.length === 1 ? 'Session ended' : 'Other sessions ended'}
      onConfirm={async () => {
        for (const { signIn } of ended) await call('DELETE', `${path}/${encodeURIComponent(signIn)}`);
        forget(path);
      }}
    >
      <p>The next request requires a new sign-in.</p>
    </ConfirmButton>
  );
}
