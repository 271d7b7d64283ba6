import { applicationKeyColumns } from '../../../contract/resources/columns.ts';
import type { Application } from '../../../contract/shapes/application.ts';
import type { ApplicationKey } from '../../../contract/shapes/application-key.ts';
import { address } from '../../address.ts';
import { call, resource } from '../../api/client.ts';
import { useList } from '../../api/list.ts';
import { format } from '../../format.ts';
import { Ago } from '../../parts/columns.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import { columnsOf } from '../../parts/declared-columns.ts';
import { useDialog } from '../../parts/dialog.tsx';
import { Choices, Field } from '../../parts/form.tsx';
import { isAdmin, Part } from '../settings/part.tsx';
import { ResourceTable } from '../settings/resource-table.tsx';
import { createKey, type KeyType, keyTypes, shownKey } from './key-types.ts';
import { LastUse, RotateKey } from './rotate-key.tsx';

/** The keys of an application. */
export function Keys({ application: { id, environments } }: { readonly application: Application }) {
  const list = useList<ApplicationKey>(resource('applications', id, 'keys'));
  const dialog = useDialog();
  const close = () => {
    dialog.close();
    void list.reload();
  };
  const rotate = (old: ApplicationKey) =>
    dialog.open(<RotateKey application={id} old={old} onClose={close} />);
  return (
    <Part title="Keys">
      <p class="quiet">
        Packets and reports contain a key, which identifies the application.{' '}
        {environments[0] && <a href={address('apps', id, environments[0].name, 'connect')}>How to send</a>}
      </p>
      {list.items?.map((key) => (
        <Leak key={key.id} leaked={key} onRotate={() => rotate(key)} />
      ))}
      <ResourceTable
        list={list}
        caption="Keys"
        rowKey={({ id }) => id}
        empty="No key yet: no packet can be sent."
        columns={columns}
        actions={(key) => (
          <button type="button" aria-label={`Rotate the key ${key.name}`} onClick={() => rotate(key)}>
            Rotate …
          </button>
        )}
        remove={(key) => ({
          title: `Delete the key ${key.name}`,
          action: 'Delete the key',
          done: `The key ${key.name} is deleted`,
          onConfirm: () => call('DELETE', resource('applications', id, 'keys', key.id)),
          children: (
            <>
              <p>Its packets and reports are refused from now on. This cannot be undone.</p>
              <LastUse of={key} />
            </>
          ),
        })}
        create={{
          primary: true,
          label: 'Create a key',
          codes: { plan_limit: 'name' },
          create: async (data) => {
            const { name, type } = Object.fromEntries(data);
            return shownKey(await createKey(id, type as KeyType, String(name)));
          },
          children: newKeyFields,
        }}
      />
      {dialog.element}
    </Part>
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
    <Field name="name" label="Name" hint="Its purpose; by default the type." />
  </>
);

const columns = columnsOf<ApplicationKey>(applicationKeyColumns, {
  id: false,
  name: true,
  type: true,
  warnings: false,
  prefix: ({ prefix, key, name }) => (
    <span class="settings-key">
      <code>{prefix}…</code>
      {key !== undefined && <CopyButton text={key} title={`Copy the key ${name}`} />}
    </span>
  ),
  createdAt: true,
  lastUsedAt: ({ lastUsedAt }) => <Ago at={lastUsedAt} never="never" />,
});

interface LeakProps {
  readonly leaked: ApplicationKey;
  readonly onRotate: () => void;
}

function Leak({ leaked: { warnings, name }, onRotate }: LeakProps) {
  const leak = warnings.find(({ code }) => code === 'leaked');
  if (leak === undefined) return null;
  return (
    <div class="settings-leak" role="note">
      <h3>The Backend key {name} is no longer secret</h3>
      <p>
        A browser or an app sent it in a packet on {format.time(leak.at)}. Its users can read it, send reports
        and mint identities.
      </p>
      <p>
        What to do: use a Frontend or Mobile key there. Then replace the key on your servers, and delete it.
      </p>
      {isAdmin() && (
        <button type="button" class="danger" onClick={onRotate}>
          Replace the key {name} …
        </button>
      )}
    </div>
  );
}
