import { useEffect } from 'preact/hooks';
import { expired, resume, signInAddress } from '../session.ts';
import { root } from '../settings.ts';
import { Dialog } from './dialog.tsx';

/** Asks to sign in again in another tab, so that the input in this one is not lost. */
export function SignInAgain() {
  useEffect(() => {
    const look = () => {
      if (expired.value && !document.hidden) void resume();
    };
    window.addEventListener('focus', look);
    return () => window.removeEventListener('focus', look);
  }, []);
  if (!expired.value) return null;
  return (
    <Dialog title="Your session has ended">
      <p>Sign in again to continue. Your input on this page stays.</p>
      <p class="actions">
        <a
          class="button primary"
          href={signInAddress(`${root}/console/signed-in`)}
          target="_blank"
          rel="noopener opener"
        >
          Sign in again
        </a>
        <button type="button" onClick={() => void resume()}>
          I have signed in
        </button>
      </p>
    </Dialog>
  );
}
