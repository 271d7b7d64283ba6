import type { ComponentChildren } from 'preact';
import { useEffect, useErrorBoundary } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { isFinal } from '../api/pause.ts';
import { ApiProblem, messageOf } from '../api/problem.ts';
import { Skeleton } from './skeleton.tsx';

/** The place of a page until its data has been read: a placeholder, or the reason of the failure. */
export function Pending({ error }: { readonly error: unknown }) {
  return error === undefined ? <Skeleton kind="page" /> : <Failure error={error} />;
}

/** Why a page cannot be shown. The page retries by itself if that can help. */
export function Failure({ error }: { readonly error: unknown }) {
  if (error instanceof ApiProblem && error.code === 'engine_unavailable')
    return (
      <section class="notice" role="status">
        <h1>PostgreSQL is unreachable</h1>
        <p>The database of all nodes does not answer. This node keeps counting, and no data is lost.</p>
        <p>This page opens as soon as PostgreSQL is back.</p>
      </section>
    );
  return (
    <section class="notice" role="alert">
      <h1>This page cannot be shown</h1>
      <p>{messageOf(error)}</p>
      <p>{isFinal(error) ? 'Choose another range or another page.' : 'Retrying …'}</p>
    </section>
  );
}

interface ReasonProps {
  readonly error: unknown;
  /** What cannot be read, such as "The senders"; without it the message stands alone. */
  readonly what?: string;
  readonly onRetry?: () => void;
}

/** Why a part of a page cannot be shown, or an action failed. */
export function Reason({ error, what, onRetry }: ReasonProps) {
  if (error === undefined) return null;
  return (
    <p class="actions bad" role="alert">
      {what && `${what} cannot be read: `}
      {messageOf(error)}
      {onRetry && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </p>
  );
}

/** Shows the page. If it fails, shows a message in its place; other pages still work. */
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
