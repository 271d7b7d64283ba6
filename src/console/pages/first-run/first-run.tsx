/*
 * src/console/pages/first-run: from an empty console to the first message. first-run.tsx creates an application.
 * connect.tsx has the following steps: what the application uses (choose.tsx), a key or a token of Unleash, the lines
 * to paste, and the first message (arrival.tsx). sources.ts declares the kinds of senders, each of which has targets
 * with their lines. watch.ts finds the first message in the ledger.
 */
import { useLocation } from 'preact-iso';
import { environmentAddress } from '../../address/address.ts';
import { Form } from '../../components/form/form.tsx';
import { hasRole } from '../../reader/reader.tsx';
import { ApplicationFields, applicationCodes, createApplication } from '../settings/applications.tsx';

export function FirstRun() {
  if (!hasRole('Admin'))
    return (
      <section class="stack first-run">
        <h1>No application yet</h1>
        <p>An Admin of your team can create the first application. Its flags then appear here.</p>
      </section>
    );
  return (
    <section class="stack first-run">
      <h1>Welcome</h1>
      <p>
        flagmeter shows what each feature flag does: who requests it, which variants they get, and which flags can be
        removed. It takes three steps.
      </p>
      <ol class="stack first-run-steps">
        <li aria-current="step">Create an application</li>
        <li>Choose what you use: Unleash, OpenFeature, OpenTelemetry or your own code</li>
        <li>Paste some lines, and see the first message</li>
      </ol>
      <NewApplication />
    </section>
  );
}

function NewApplication() {
  const { route } = useLocation();
  return (
    <Form
      onSubmit={async (data) => {
        const { id, environments } = await createApplication(data);
        route(environmentAddress(id, environments[0]?.name ?? '', 'connect'));
      }}
      submit="Create application"
      done="Application created"
      codes={applicationCodes}
    >
      <ApplicationFields />
    </Form>
  );
}
