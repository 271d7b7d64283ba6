import { user } from '../../session.ts';

/** Whether the reader may change settings. The API decides; the page does not offer what it would refuse. */
export function isAdmin(): boolean {
  return user.value?.role === 'Admin';
}

/** Says why there is nothing to change. */
export function ReadOnlyNote({ what }: { readonly what: string }) {
  if (isAdmin()) return null;
  return (
    <p class="callout callout-note">You can look but not change: to change {what} takes the role Admin.</p>
  );
}
