import type { ComponentChildren } from 'preact';
import { environmentAddress } from '../address.ts';
import type { ApplicationShown } from '../applications.tsx';
import { root } from '../settings.ts';
import { useTitle } from '../title.ts';

/** An address that leads nowhere, or to something that the user may not see: the two look alike. */
export function NotFound({ children }: { readonly children?: ComponentChildren }) {
  useTitle('Not found');
  return (
    <section class="notice">
      <h1>Not found</h1>
      {children ?? <p>This page does not exist, or it belongs to a team that you are not a member of.</p>}
      <p>
        <a href={`${root}/`}>All applications</a>
      </p>
    </section>
  );
}

interface NoEnvironmentProps {
  readonly application: ApplicationShown;
  readonly environment: string;
}

/** An environment that the application does not have: it has others. */
export function NoEnvironment({ application, environment }: NoEnvironmentProps) {
  return (
    <NotFound>
      <p>
        {application.name} has no environment <q>{environment}</q>. It has these:
      </p>
      <ul>
        {application.environments.map(({ name }) => (
          <li key={name}>
            <a href={environmentAddress(application.id, name, 'flags')}>{name}</a>
          </li>
        ))}
      </ul>
    </NotFound>
  );
}
