import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { lazy } from 'preact-iso';
import type { ConsoleRoute } from './routes.ts';
import { useTitle } from './title.ts';

type Page = ComponentType<object>;

/** A component that is loaded when it is first shown. If that fails, it is tried again each time it is shown. */
export function lazyPage(loadPage: ConsoleRoute['load']) {
  const load = loadPage as () => Promise<Page>;
  const missing = (): Page => (props) => <Missing load={load} props={props} />;
  return lazy<Page>(() => load().catch(missing));
}

interface MissingProps {
  readonly load: () => Promise<Page>;
  readonly props: object;
}

/** In place of a page that could not be loaded: the server is away, or was upgraded and has other files. */
function Missing({ load, props }: MissingProps) {
  const [loaded, setLoaded] = useState<{ readonly Page: Page }>();
  useTitle(loaded === undefined ? 'Not loaded' : '');
  useEffect(() => {
    load().then(
      (Page) => setLoaded({ Page }),
      () => undefined,
    );
  }, []);
  if (loaded !== undefined) return <loaded.Page {...props} />;
  return (
    <section class="notice" role="alert">
      <h1>This page could not be loaded</h1>
      <p>The server cannot be reached, or it was upgraded since this tab was opened. No data was changed.</p>
      <p class="actions">
        <button type="button" class="primary" onClick={() => location.reload()}>
          Reload
        </button>
      </p>
    </section>
  );
}
