import { applicationKeyColumns } from '../../../contract/resources/columns.ts';
import { address } from '../../address.ts';
import { call, resource } from '../../api/client.ts';
import { useList } from '../../api/list.ts';
import { now } from '../../clock.ts';
import { format } from '../../format.ts';
import { CopyButton } from '../../parts/copy.tsx';
import { columnsOf } from '../../parts/declared-columns.ts';
import { useDialog } from '../../parts/dialog.tsx';
import { ResourceTable } from '../settings/resource-table.tsx';
import { isAdmin } from '../settings/role.tsx';
import type { Application, ApplicationKey } from '../settings/shapes.ts';
import { LastUse } from './last-use.tsx';
import { NewKey } from './new-key.tsx';
import { RotateKey } from './rotate-key.tsx';

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
    <section class="settings-part">
      <h2>Keys</h2>
      <p class="quiet">
        Packets and reports carry one of these keys. It says which application they are for.{' '}
        {environments[0] && <a href={address('apps', id, environments[0].name, 'connect')}>How to send</a>}
      </p>
      {list.items?.map((key) => (
        <Leak key={key.id} leaked={key} onRotate={() => rotate(key)} />
      ))}
      <ResourceTable
        list={list}
        caption="Keys"
        rowKey={({ id }) => id}
        empty="There is no key: nothing can send yet. Create one."
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
              <p>Whatever sends with it is refused from now on. This cannot be undone.</p>
              <LastUse of={key} />
            </>
          ),
        })}
      />
      {isAdmin() && <NewKey application={id} onDone={list.reload} />}
      {dialog.element}
    </section>
  );
}

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
  lastUsedAt: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : format.relative(lastUsedAt, now.value)),
});

function Leak({
  leaked: { warnings, name },
  onRotate,
}: {
  readonly leaked: ApplicationKey;
  readonly onRotate: () => void;
}) {
  const leak = warnings.find(({ code }) => code === 'leaked');
  if (leak === undefined) return null;
  return (
    <div class="settings-leak" role="note">
      <h3>The Backend key {name} is not secret any more</h3>
      <p>
        A browser or an app sent it in a packet on {format.time(leak.at)}, so its users can read it, and send
        reports and mint identities in your name.
      </p>
      <p>
        What to do: use a Frontend or Mobile key there. Then replace it on your servers by a new Backend key,
        and delete it.
      </p>
      {isAdmin() && (
        <button type="button" class="danger" onClick={onRotate}>
          Replace the key {name} …
        </button>
      )}
    </div>
  );
}
