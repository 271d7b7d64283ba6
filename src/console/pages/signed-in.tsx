import { root } from '../settings.ts';

/** `/console/signed-in`, where a browser does not let the page close its tab. */
export function SignedIn() {
  return (
    <main id="main" class="notice">
      <h1>You are signed in</h1>
      <p>
        The tab that you came from goes on by itself; you can close this one. Or go on here to{' '}
        <a href={`${root}/`}>the console</a>.
      </p>
    </main>
  );
}
