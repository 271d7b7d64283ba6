import { useSignal } from '@preact/signals';
import { applicationKeyColumns } from '../../../contract/resources/columns.ts';
import type { Application } from '../../../contract/shapes/application.ts';
import type { ApplicationKey, ApplicationKeyShownOnce } from '../../../contract/shapes/application-key.ts';
import { address, leakedKey, useQuery } from '../../address/address.ts';
import { call, resource } from '../../api/client.ts';
import { useList } from '../../api/list.ts';
import { usePoll } from '../../api/poll.ts';
import { CopyButton } from '../../components/copy.tsx';
import { Dialog, useDialog } from '../../components/dialog.tsx';
import { type CreateButtonProps, EndingSecret, Secret } from '../../components/form/create.tsx';
import { Choices, Field, Form } from '../../components/form/form.tsx';
import { Section } from '../../components/resource/part.tsx';
import { ResourceTable } from '../../components/resource/resource-table.tsx';
import { Ago } from '../../components/table/columns.tsx';
import { createDeclaredColumns } from '../../components/table/declared-columns.ts';
import { ListTable, type ListTableProps } from '../../components/table/list-table.tsx';
import { hasRole } from '../../reader/reader.tsx';
import { format, plural } from '../../text/format.ts';
import { createKey, type KeyType, keyTypes, shownKey } from './key-types.ts';
import { LastUse, Refusals } from './key-use.tsx';

export function Keys({ application: { id, environments } }: { readonly application: Application }) {
  const list = useList<ApplicationKey>(resource('applications', id, 'keys'));
  const revoked = useList<ApplicationKey>(resource('applications', id, 'keys'), { revoked: true });
  const named = useQuery().query['key'];
  const isNamed = ({ id, warnings }: ApplicationKey) =>
    id === named || (named === leakedKey && warnings.some(({ code }) => code === 'leaked'));
  const dialog = useDialog();
  const close = () => {
    dialog.close();
    void list.reload();
    void revoked.reload();
  };
  const rotate = (old: ApplicationKey) =>
    dialog.open(<RotateKey application={id} old={old} all={list.items ?? []} onClose={close} />);
  return (
    <Section title="Keys" help="console#accepted-and-refused-messages">
      <p class="quiet">
        Each packet and report contains a key, which identifies the application.{' '}
        {environments[0] && <a href={address('apps', id, environments[0].name, 'connect')}>How to send</a>}
      </p>
      {list.items?.map((key) => (
        <Warned key={key.id} warned={key} onRotate={() => rotate(key)} />
      ))}
      <ResourceTable
        list={list}
        caption="Keys"
        rowKey={({ id }) => id}
        target={isNamed}
        empty="No keys yet. Senders need a key."
        columns={columns}
        actions={(key) =>
          canRotate(key) && (
            <button type="button" aria-label={`Rotate key ${key.name}`} onClick={() => rotate(key)}>
              Rotate …
            </button>
          )
        }
        remove={(key) => ({
          title: `Delete key ${key.name}`,
          action: 'Delete key',
          done: `Deleted key ${key.name}`,
          onConfirm: async () => {
            await call('DELETE', resource('applications', id, 'keys', key.id));
            await revoked.reload();
          },
          children: (
            <>
              <p>Packets and reports with this key are refused from now on. This cannot be undone.</p>
              <LastUse of={key} />
            </>
          ),
        })}
        create={creation(id)}
      />
      <RevokedKeys list={revoked} target={isNamed} />
      {dialog.element}
    </Section>
  );
}

function creation(application: string): Omit<CreateButtonProps, 'onDone'> {
  return {
    primary: true,
    label: 'Create key',
    codes: { conflict: 'name', plan_limit: 'name' },
    create: async (data) => {
      const { name, type } = Object.fromEntries(data);
      return shownKey(await createKey(application, type as KeyType, String(name)));
    },
    children: newKeyFields,
  };
}

type RevokedKeysProps = Pick<ListTableProps<ApplicationKey>, 'list' | 'target'>;

function RevokedKeys(table: RevokedKeysProps) {
  if (!table.list.items?.length) return null;
  return (
    <>
      <h3>Revoked keys</h3>
      <p class="quiet">The page Ingest lists messages with these keys under “Refused, without an application”.</p>
      <ListTable stacked caption="Revoked keys" rowKey={({ id }) => id} columns={revokedColumns} {...table} />
    </>
  );
}

const newKeyFields = (
  <>
    <Choices
      legend="Type"
      type="radio"
      name="type"
      choices={keyTypes.map(([type, words]) => [type, type, words])}
      checked={(_, index) => index === 0}
    />
    <Field name="name" label="Name" hint="What uses the key. The default is the type." />
  </>
);

const columns = createDeclaredColumns<ApplicationKey>(applicationKeyColumns, {
  id: false,
  name: ({ name, expiresAt }) => (
    <>
      {name}
      {expiresAt !== null && (
        <div class="quiet">
          accepted until <time dateTime={expiresAt}>{format.time(expiresAt)}</time>
        </div>
      )}
    </>
  ),
  type: true,
  warnings: false,
  prefix: ({ prefix, key, name }) => (
    <span class="settings-key">
      <code>{prefix}…</code>
      {key !== undefined && <CopyButton text={key} title={`Copy key ${name}`} />}
    </span>
  ),
  createdAt: ({ createdAt }) => <Ago at={createdAt} />,
  expiresAt: false,
  lastUsedAt: ({ lastUsedAt }) => <Ago at={lastUsedAt} never="never" />,
  refused: (key) => <Refusals of={key} />,
}).map((column) => ({ ...column, number: false }));

const revokedColumns = createDeclaredColumns<ApplicationKey>(
  { ...applicationKeyColumns, revokedAt: 'Revoked' },
  {
    id: false,
    name: true,
    type: true,
    warnings: false,
    prefix: ({ prefix }) => <code>{prefix}…</code>,
    createdAt: false,
    expiresAt: false,
    lastUsedAt: ({ lastUsedAt }) => <Ago at={lastUsedAt} never="never" />,
    refused: false,
    revokedAt: ({ revokedAt = null }) => <Ago at={revokedAt} />,
  },
).map((column) => ({ ...column, number: false }));

/** True if a key can be rotated. Adopted tokens cannot be rotated, because only Unleash can replace its tokens. */
function canRotate({ expiresAt, environment }: ApplicationKey): boolean {
  return expiresAt === null && environment === undefined;
}

interface WarnedProps {
  readonly warned: ApplicationKey;
  readonly onRotate: () => void;
}

function Warned({ warned: key, onRotate }: WarnedProps) {
  return key.warnings.map(({ code, message, at }) => (
    <div key={code} class="settings-leak" role="note">
      <h3>
        {code === 'leaked' ? 'The Backend key' : 'The key'} {key.name} (<code>{key.prefix}…</code>){' '}
        {code === 'leaked' ? 'has leaked' : 'can be guessed'}
      </h3>
      {code === 'leaked' ? <Leak of={key} at={at} /> : <p>{message}.</p>}
      {hasRole('Admin') && canRotate(key) && (
        <button type="button" class="danger" onClick={onRotate}>
          Replace key {key.name} …
        </button>
      )}
    </div>
  ));
}

function Leak({ of: { refused, environment }, at }: { readonly of: ApplicationKey; readonly at: string }) {
  return (
    <>
      <p>
        A web page or an app sent this key in a packet on {format.time(at)}. Whoever can read the key there can send
        reports and create identities.{' '}
        {refused.count > 0 && (
          <>
            {plural(refused.count, 'message')} with this key {refused.count === 1 ? 'was' : 'were'} refused, the last
            one <Ago at={refused.lastAt} />.
          </>
        )}
      </p>
      <p>
        <strong>What to do:</strong> use a Frontend or Mobile key in the page or app. Then{' '}
        {environment === undefined
          ? 'rotate this key on your servers.'
          : 'create a new token in Unleash, adopt it, and delete this key.'}
      </p>
    </>
  );
}

interface RotateKeyProps {
  readonly application: string;
  readonly old: ApplicationKey;
  readonly all: readonly ApplicationKey[];
  readonly onClose: () => void;
}

type RotatedKey = Required<ApplicationKeyShownOnce>;

/** Replaces a key in up to three steps: create a new key, use both keys, delete the old key. */
function RotateKey(props: RotateKeyProps) {
  const { application, old, all, onClose } = props;
  const previous = all.find(({ id, name }) => name === old.name && id !== old.id);
  const made = useSignal<RotatedKey | undefined>(undefined);
  const stored = useSignal(false);
  if (made.value !== undefined) {
    if (stored.value) return <SwitchOver {...props} made={made.value} />;
    return <Secret {...shownKey(made.value)} onDone={() => (stored.value = true)} />;
  }
  return (
    <Dialog title={`Rotate key ${old.name}`} onClose={onClose}>
      <ol>
        <li>Create a new {old.type} key. The old one works for another 24 hours.</li>
        <li>Configure the new key in your senders. This dialog shows the last use of each key.</li>
        <li>Delete the old key earlier if it has leaked, or once no sender uses it.</li>
      </ol>
      <LastUse of={old} />
      <EndingSecret what="key" until={previous?.expiresAt} />
      <Form
        submit="Create new key"
        done="New key created"
        onCancel={onClose}
        onSubmit={async () => {
          const path = resource('applications', application, 'keys', old.id, 'rotate');
          made.value = await call<RotatedKey>('POST', path);
        }}
      />
    </Dialog>
  );
}

function SwitchOver({ application, old, made, onClose }: RotateKeyProps & { made: RotatedKey }) {
  const keys = resource('applications', application, 'keys');
  const { data } = usePoll<{ items: readonly ApplicationKey[] }>(`${keys}?limit=200`, 3000);
  const oldNow = data?.items.find(({ id }) => id === old.id) ?? old;
  const newNow = data?.items.find(({ id }) => id === made.id);
  return (
    <Dialog title={`Switch to new key ${made.name}`} onClose={onClose}>
      <p>
        Both keys work until {format.time(made.previousKeyUntil)}. Configure the new one in your senders. The table
        updates every few seconds.
      </p>
      <table>
        <thead>
          <tr>
            <th scope="col">Key</th>
            <th scope="col">Last accepted</th>
            <th scope="col">Refused</th>
          </tr>
        </thead>
        <tbody>
          <KeyRow words="New" of={newNow} />
          <KeyRow words="Old" of={oldNow} />
        </tbody>
      </table>
      <LastUse of={{ ...oldNow, name: 'The old key' }} />
      <Form
        submit="Delete old key"
        done="Old key deleted"
        danger
        onSubmit={async () => {
          await call('DELETE', resource('applications', application, 'keys', old.id));
          onClose();
        }}
      />
      <p class="actions">
        <button type="button" onClick={onClose}>
          Keep both keys until then
        </button>
        <span class="quiet">You can delete the old key earlier, in the list of keys.</span>
      </p>
    </Dialog>
  );
}

function KeyRow({ words, of: key }: { readonly words: string; readonly of: ApplicationKey | undefined }) {
  return (
    <tr>
      <th scope="row">
        {words} <code>{key?.prefix}…</code>
      </th>
      <td>
        <Ago at={key?.lastUsedAt ?? null} never="not yet" />
      </td>
      <td>{key && <Refusals of={key} />}</td>
    </tr>
  );
}
