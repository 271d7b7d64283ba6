import type { ComponentChildren } from 'preact';
import { signOut, user } from '../session.ts';
import { root } from '../settings.ts';

/** What stands around every page. */
export function Frame({ children }: { readonly children: ComponentChildren }) {
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="bar">
        <a class="brand" href={`${root}/`}>
          flagmeter
        </a>
        <span class="spacer" />
        <span class="who">{user.value?.email}</span>
        <button type="button" onClick={() => void signOut()}>
          Sign out
        </button>
      </header>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
    </>
  );
}
