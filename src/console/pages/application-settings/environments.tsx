import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { environmentColumns } from '../../../contract/resources/columns.ts';
import type { Application } from '../../../contract/shapes/application.ts';
import type { Deletion } from '../../../contract/shapes/deletion.ts';
import { environmentAddress } from '../../address/address.ts';
import { call, resource } from '../../api/client.ts';
import { forget, usePoll } from '../../api/poll.ts';
import { announce } from '../../parts/announce.tsx';
import { Field, Form } from '../../parts/form/form.tsx';
import { isAdmin, Part } from '../../parts/resource/part.tsx';
import { ResourceTable } from '../../parts/resource/resource-table.tsx';
import { columnsOf } from '../../parts/table/declared-columns.ts';
import { refreshApplications } from '../../reader/applications.tsx';
import { format } from '../../text/format.ts';
import type { ApplicationProps } from './application-props.ts';

/** The environments of an application, and the progress of removals. */
export function Environments({ application: { id, environments }, thing }: ApplicationProps) {
  const path = resource('applications', id, 'environments');
  const reload = () => {
    refreshApplications();
    return thing.reload();
  };
  return (
    <Part title="Environments" line>
      <ResourceTable
        list={{ items: environments, reload }}
        caption="Environments"
        rowKey={({ name }) => name}
        empty="No environments yet. Packets are refused until there is one."
        columns={columnsOf<Application['environments'][number]>(environmentColumns, {
          name: ({ name }) => <a href={environmentAddress(id, name, 'flags')}>{name}</a>,
        })}
        remove={({ name }) => ({
          title: `Delete the environment ${name}`,
          action: 'Delete the environment',
          done: `${name} is deleted; its data is being removed`,
          typed: name,
          onConfirm: () =>
            call('DELETE', `${path}/${encodeURIComponent(name)}`).then(() => forget(resource('deletions'))),
          children: (
            <p>
              Packets and reports for {name} are refused from now on, and its counts are deleted. This cannot
              be undone.
            </p>
          ),
        })}
      />
      <Removals of={id} />
      {isAdmin() && (
        <Form
          submit="Add the environment"
          done="The environment is added"
          codes={{ conflict: 'name', plan_limit: 'name', invalid_name: 'name' }}
          reset
          onSubmit={async (data) => {
            await call('POST', path, { body: { name: data.get('name') } });
            await reload();
          }}
        >
          <Field
            name="name"
            label="New environment"
            required
            hint="Spelt as in your packets and reports; case matters."
          />
        </Form>
      )}
    </Part>
  );
}

/** The removals in progress. @param props `of`: id of an application, for its removals only */
export function Removals({ of }: { readonly of?: string }) {
  const everyMs = useSignal(15_000);
  const { data } = usePoll<{ items: readonly Deletion[] }>(resource('deletions'), everyMs.value);
  const pending = (data?.items ?? []).filter(({ target }) => of === undefined || target.id === of);
  const names = pending.map(({ target }) => target.name).join(', ');
  const before = useRef(names);
  useEffect(() => {
    if (names === '' && before.current !== '') announce(`The data of ${before.current} has been removed`);
    before.current = names;
    everyMs.value = names === '' ? 15_000 : 1000;
  }, [names]);
  return (
    <ul class="plain-list settings-removals">
      {pending.map(({ target, requestedAt }) => (
        <li key={`${target.id} ${target.name} ${requestedAt}`}>
          Removing the data of {target.name}, deleted at {format.time(requestedAt)}.
        </li>
      ))}
    </ul>
  );
}
