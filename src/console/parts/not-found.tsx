import type { ComponentChildren } from 'preact';
import type { Application } from '../../contract/shapes/application.ts';
import { applicationSettingsAddress, environmentAddress } from '../address/address.ts';
import { isOfOthers } from '../api/problem.ts';
import { root } from '../api/settings.ts';
import { useTitle } from './title.ts';

interface NotFoundProps {
  readonly children?: ComponentChildren;
  /** Why the API did not show it, if it was asked. */
  readonly error?: unknown;
}

/** An address that leads nowhere, or to something of a team that the reader is not in. */
export function NotFound({ children, error }: NotFoundProps) {
  const heading = isOfOthers(error) ? 'Not in your teams' : 'Not found';
  useTitle(heading);
  return (
    <section class="notice">
      <h1>{heading}</h1>
      {children ?? (
        <p>
          {isOfOthers(error)
            ? 'This belongs to a team that you are not a member of. An Admin of that team can add you.'
            : 'This page does not exist.'}
        </p>
      )}
      <p>
        <a href={`${root}/`}>All applications</a>
      </p>
    </section>
  );
}

interface NoEnvironmentProps {
  readonly application: Application;
  readonly environment: string;
}

/** An environment that the application does not have: it has others. */
export function NoEnvironment({ application, environment }: NoEnvironmentProps) {
  return (
    <NotFound>
      <p>
        {application.name} has no environment <q>{environment}</q>.
        {application.environments.length === 0 ? (
          <>
            {' '}
            It has none yet: <a href={applicationSettingsAddress(application.id)}>create one</a>.
          </>
        ) : (
          ' It has these:'
        )}
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
