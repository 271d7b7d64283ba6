/*
 * src/console/pages/application-settings: what an Admin sets of one application. application-page.tsx shows all of it, and each
 * other file has one part.
 */
import { useLocation } from 'preact-iso';
import { address } from '../../address.ts';
import { call, resource } from '../../api/client.ts';
import { forget } from '../../api/poll.ts';
import { isHidden } from '../../api/problem.ts';
import { useThing } from '../../api/thing.ts';
import { refreshApplications } from '../../applications.tsx';
import { ConfirmButton } from '../../parts/confirm.tsx';
import { ConflictDialog } from '../../parts/conflict.tsx';
import { Reason } from '../../parts/failure.tsx';
import { Field, Form } from '../../parts/form.tsx';
import { NotFound } from '../not-found.tsx';
import { isAdmin, ReadOnlyNote } from '../settings/role.tsx';
import type { Application } from '../settings/shapes.ts';
import type { ApplicationProps } from './application-props.ts';
import { Environments } from './environments.tsx';
import { IdentitiesToggle } from './identities-toggle.tsx';
import { Keys } from './keys.tsx';
import { Origins } from './origins.tsx';
import { Rates } from './rates.tsx';

/** The settings of an application. @param id the application's */
export function ApplicationPage({ id }: { readonly id: string }) {
  const thing = useThing<Application>(resource('applications', id));
  const { data: application, error, conflict, version } = thing;
  if (application === undefined) {
    if (isHidden(error)) return <NotFound error={error} />;
    return error === undefined ? (
      <p class="quiet">Loading …</p>
    ) : (
      <Reason error={error} onRetry={() => void thing.reload()} />
    );
  }
  const parts = { application, thing };
  return (
    <>
      <h1>{application.name}</h1>
      <ReadOnlyNote what="the settings of an application" />
      {isAdmin() && <Name key={`name-${version}`} {...parts} />}
      <Environments {...parts} />
      <Keys application={application} />
      <Origins {...parts} />
      <IdentitiesToggle {...parts} />
      <Rates key={`rates-${version}`} {...parts} />
      {isAdmin() && <Deletion application={application} />}
      <ConflictDialog conflict={conflict} />
    </>
  );
}

function Name({ application, thing }: ApplicationProps) {
  return (
    <section class="settings-part settings-line">
      <h2>Name</h2>
      <Form
        submit="Save the name"
        done="The name is saved"
        codes={{ invalid_name: 'name' }}
        onSubmit={async (data) => {
          const saved = await thing.change(() => ({ name: String(data.get('name')) }));
          refreshApplications();
          return saved;
        }}
      >
        <Field
          name="name"
          label="Name"
          value={application.name}
          required
          hint="For people only: packets and keys do not change with it."
        />
      </Form>
    </section>
  );
}

function Deletion({ application: { id, name } }: { readonly application: Application }) {
  const { route } = useLocation();
  return (
    <section class="settings-part">
      <h2>Delete the application</h2>

      <ConfirmButton
        danger
        label={`Delete ${name}`}
        title={`Delete ${name}`}
        action="Delete the application"
        done={`${name} is deleted`}
        typed={name}
        onConfirm={async () => {
          await call('DELETE', resource('applications', id));
          forget(resource('deletions'));
          refreshApplications();
          route(address('settings', 'applications'));
        }}
      >
        <p>
          Its keys stop working at once, and everything that was counted is removed. This cannot be undone.
        </p>
      </ConfirmButton>
    </section>
  );
}
