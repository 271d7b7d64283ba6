import type { ComponentChildren } from 'preact';
import { useEffect, useErrorBoundary } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { isFinal } from '../api/pause.ts';
import { messageOf } from '../api/problem.ts';

/** What a page shows when its data cannot be read. It is tried again by itself, unless that would change nothing. */
export function Failure({ error }: { readonly error: unknown }) {
  return (
    <section class="notice" role="alert">
      <h1>This cannot be shown</h1>
      <p>{messageOf(error)}</p>
      <p>{isFinal(error) ? 'Choose another range, or another page.' : 'It is tried again by itself.'}</p>
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
