import type { ComponentChildren } from 'preact';
import { useEffect, useErrorBoundary } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { Application } from '../../contract/shapes/application.ts';
import { applicationSettingsAddress, environmentAddress } from '../address/address.ts';
import { ApiProblem, describeError, isFinal, isOfOthers } from '../api/problem.ts';
import { root } from '../api/settings.ts';
import { useTitle } from './title.ts';

/** Shown until the data of a page has been read: a placeholder, or the reason of a failure. */
export function Pending({ error }: { readonly error: unknown }) {
  return error === undefined ? <Skeleton kind="page" /> : <Failure error={error} />;
}

/** Shows why a page cannot be shown. The page retries automatically if another request can succeed. */
export function Failure({ error }: { readonly error: unknown }) {
  if (error instanceof ApiProblem && error.code === 'postgres_unavailable')
    return (
      <section class="notice" role="status">
        <h1>PostgreSQL is unreachable</h1>
        <p>The database of all nodes does not respond. This node keeps counting, and no data is lost.</p>
        <p>This page opens as soon as PostgreSQL is back.</p>
      </section>
    );
  return (
    <section class="notice" role="alert">
      <h1>This page cannot be shown</h1>
      <p>{describeError(error)}</p>
      <p>{isFinal(error) ? 'Choose another range or another page.' : 'Retrying …'}</p>
    </section>
  );
}

interface ReasonProps {
  readonly error: unknown;
  /** Subject that cannot be read, such as "The senders"; absent if the message stands alone. */
  readonly what?: string;
  readonly onRetry?: () => void;
}

/** Shows why a section of a page cannot be shown, or why an action failed. */
export function Reason({ error, what, onRetry }: ReasonProps) {
  if (error === undefined) return null;
  return (
    <p class="actions bad" role="alert">
      {what && `${what} cannot be read: `}
      {describeError(error)}
      {onRetry && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </p>
  );
}

/** Shows its children. If rendering fails, shows a message instead; other pages still work. */
export function Guarded({ children }: { readonly children: ComponentChildren }) {
  const { url } = useLocation();
  const [error, reset] = useErrorBoundary((caught) => console.error(caught));
  useEffect(reset, [url]);
  if (error === undefined) return <>{children}</>;
  return (
    <section class="notice" role="alert">
      <h1>This page has failed</h1>
      <p>No data was changed. Reload the page. If it fails again, see the browser's console.</p>
      <p class="actions">
        <button type="button" class="primary" onClick={() => location.reload()}>
          Reload
        </button>
      </p>
    </section>
  );
}

type SkeletonKind = 'page' | 'chart' | 'table' | 'lines';

const blocks: Readonly<Record<SkeletonKind, readonly string[]>> = {
  page: ['title', 'chart', ...Array<string>(6).fill('row')],
  chart: ['chart'],
  table: Array<string>(6).fill('row'),
  lines: Array<string>(4).fill('line'),
};

export function Skeleton({ kind, label = 'Loading …' }: { readonly kind: SkeletonKind; readonly label?: string }) {
  return (
    <div class="skeleton" aria-busy="true">
      <p class="hidden" role="status">
        {label}
      </p>
      {blocks[kind].map((block, index) => (
        <div key={index} class={`skeleton-${block}`} aria-hidden="true" />
      ))}
    </div>
  );
}

interface NotFoundProps {
  readonly children?: ComponentChildren;
  readonly error?: unknown;
}

/** Shown at an address without a page, or for a resource of a team that the reader is not in. */
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

/** Shown for an environment that the application does not have. */
export function NoEnvironment({ application, environment }: NoEnvironmentProps) {
  return (
    <NotFound>
      <p>
        {application.name} has no environment <q>{environment}</q>.
        {application.environments.length === 0 ? (
          <>
            {' '}
            It has no environments yet. <a href={applicationSettingsAddress(application.id)}>Create an environment</a>.
          </>
        ) : (
          ' It has these environments:'
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
