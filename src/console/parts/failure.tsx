import type { ComponentChildren } from 'preact';
import { useEffect, useErrorBoundary } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { isFinal } from '../api/pause.ts';
import { ApiProblem, messageOf } from '../api/problem.ts';

/** What a page shows when its data cannot be read. It is tried again by itself, unless that would change nothing. */
export function Failure({ error }: { readonly error: unknown }) {
  if (error instanceof ApiProblem && error.code === 'engine_unavailable') return <PostgresAway />;
  return (
    <section class="notice" role="alert">
      <h1>This cannot be shown</h1>
      <p>{messageOf(error)}</p>
      <p>{isFinal(error) ? 'Choose another range, or another page.' : 'It is tried again by itself.'}</p>
    </section>
  );
}

function PostgresAway() {
  return (
    <section class="notice" role="status">
      <h1>This node cannot manage just now</h1>
      <p>The engine that all nodes share does not answer. This node goes on counting, and nothing is lost.</p>
      <p>The page opens by itself once the engine is back.</p>
    </section>
  );
}

/** Shows the page, and when the page fails, a way on: other pages still work. */
export function Guarded({ children }: { readonly children: ComponentChildren }) {
  const { url } = useLocation();
  const [error, reset] = useErrorBoundary((caught) => console.error(caught));
  useEffect(reset, [url]);
  if (error === undefined) return <>{children}</>;
  return (
    <section class="notice" role="alert">
      <h1>Something went wrong in this page</h1>
      <p>Nothing was changed by it. Reload the page; if it happens again, look at the browser's console.</p>
      <p class="actions">
        <button type="button" class="primary" onClick={() => location.reload()}>
          Reload
        </button>
      </p>
    </section>
  );
}
