import { root } from '../settings.ts';

/** `/console/signed-in`, where a browser does not let the page close its tab. */
export function SignedIn() {
  return (
    <main id="main" class="notice">
      <h1>You are signed in</h1>
      <p>
        The other tab continues, and you can close this one. Or continue here to{' '}
        <a href={`${root}/`}>the console</a>.
      </p>
    </main>
  );
}
