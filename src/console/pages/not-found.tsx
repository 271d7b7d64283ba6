import { root } from '../settings.ts';

/** An address that leads nowhere, or to something that the user may not see: the two look alike. */
export function NotFound() {
  return (
    <section class="notice">
      <h1>Not found</h1>
      <p>This page does not exist, or it belongs to a team that you are not a member of.</p>
      <p>
        <a href={`${root}/`}>All applications</a>
      </p>
    </section>
  );
}
