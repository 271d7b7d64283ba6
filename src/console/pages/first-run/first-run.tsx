/*
 * src/console/pages/first-run: from an empty console to the first packet. first-run.tsx creates an application; connect.tsx is the
 * page that stays: a key (key.tsx), a sender for every language (snippet.tsx), and what came of it (arrival.tsx). snippets.ts and
 * quoting.ts write the senders, watch.ts decides what to tell.
 */
import { isAdmin } from '../settings/role.tsx';
import { NewApplication } from './new-application.tsx';

/** What `/` shows while there is no application. */
export function FirstRun() {
  if (!isAdmin())
    return (
      <section class="first-run">
        <h1>There is no application yet</h1>
        <p>An Admin of your team creates the first one. Then its flags appear here.</p>
      </section>
    );
  return (
    <section class="first-run">
      <h1>Welcome</h1>
      <p>
        flagmeter shows what each feature flag really does: who asks for it, which variant they get, and what
        can be deleted. It takes three steps.
      </p>
      <ol class="first-run-steps">
        <li aria-current="step">Create an application</li>
        <li>Get a key for it</li>
        <li>Send a packet, and see it arrive</li>
      </ol>
      <NewApplication />
    </section>
  );
}
