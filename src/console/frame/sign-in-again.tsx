import { useEffect } from 'preact/hooks';
import { maxSignInAge } from '../../contract/step-up.ts';
import { asked, giveUp, resume, signInAddress } from '../api/session.ts';
import { root } from '../api/settings.ts';
import { Dialog } from '../components/dialog.tsx';

/** Lets the user sign in again in another tab, so that the input in this tab is not lost. */
export function SignInAgain() {
  useEffect(() => {
    const look = () => {
      if (asked.value === 'ended' && !document.hidden) void resume();
    };
    window.addEventListener('focus', look);
    return () => window.removeEventListener('focus', look);
  }, []);
  if (asked.value === undefined) return null;
  const isOver = asked.value === 'ended';
  const address = signInAddress(`${root}/console/signed-in`, isOver ? undefined : maxSignInAge);
  return (
    <Dialog
      title={isOver ? 'Your session has ended' : 'Confirm that it is you'}
      {...(isOver ? {} : { onClose: giveUp })}
    >
      <p>
        {isOver
          ? 'Sign in again to continue. Your input on this page stays.'
          : `This change requires a sign-in within the last ${maxSignInAge / 60} minutes. Nothing has been changed yet, and your input stays.`}
      </p>
      <p class="actions">
        <a class="button primary" href={address} target="_blank" rel="noopener opener">
          Sign in again
        </a>
        <button type="button" onClick={() => void resume()}>
          I have signed in
        </button>
        {!isOver && (
          <button type="button" onClick={giveUp}>
            Cancel
          </button>
        )}
      </p>
    </Dialog>
  );
}

/** Shown at `/console/signed-in` if the browser does not let the page close its tab. */
export function SignedIn() {
  return (
    <main id="main" class="notice">
      <h1>You are signed in</h1>
      <p>
        The other tab continues, and you can close this one. Or continue here to <a href={`${root}/`}>the console</a>.
      </p>
    </main>
  );
}
