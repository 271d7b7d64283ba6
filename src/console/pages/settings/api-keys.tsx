import { apiKeyColumns } from '../../../contract/resources/columns.ts';
import { call, resource } from '../../api/client.ts';
import { useList } from '../../api/list.ts';
import { columnsOf } from '../../parts/declared-columns.ts';
import { Field } from '../../parts/form.tsx';
import { settings } from '../../settings.ts';
import { clientId, clientTable } from './client-table.tsx';
import { ResourceTable } from './resource-table.tsx';
import { RoleField } from './role-field.tsx';
import type { ApiKey, NewApiKey } from './shapes.ts';

/** The API keys of a team. */
export function ApiKeys({ team }: { readonly team: string }) {
  const path = resource('teams', team, 'api-keys');
  return (
    <section class="settings-part">
      <h2>API keys</h2>
      <p class="quiet">
        Programs use them to get tokens for the management API. Packets carry an application key instead.
      </p>
      <ResourceTable
        {...clientTable<ApiKey>('API key', path, columns)}
        list={useList<ApiKey>(path)}
        create={{
          label: 'Create an API key',
          codes: { plan_limit: 'name' },
          create: async (data) => {
            const made = await call<NewApiKey>('POST', path, { body: Object.fromEntries(data) });
            return {
              title: `Copy the secret of ${made.name} now`,
              once: true,
              note: `A token comes from ${settings.authUrl}/connect/token, with the grant client_credentials.`,
              values: [
                ['Client id', made.clientId],
                ['Client secret', made.clientSecret],
              ],
            };
          },
          children: fields,
        }}
      />
    </section>
  );
}

const columns = columnsOf<ApiKey>(apiKeyColumns, { name: true, clientId });

const fields = (
  <>
    <Field name="name" label="Name" required autoFocus hint="Of the program that uses it." />
    <RoleField />
  </>
);
