import { useLocation } from 'preact-iso';
import { environmentAddress } from '../../address.ts';
import { Form } from '../../parts/form.tsx';
import { ApplicationFields, applicationCodes, createApplication } from '../settings/application-form.tsx';

/** Creates an application, and goes on to its first packet. */
export function NewApplication({ onCancel }: { readonly onCancel?: () => void }) {
  const { route } = useLocation();
  return (
    <Form
      onSubmit={async (data) => {
        const { id, environments } = await createApplication(data);
        route(environmentAddress(id, environments[0]?.name ?? '', 'connect'));
      }}
      submit="Create the application"
      done="The application is created"
      codes={applicationCodes}
      {...(onCancel && { onCancel })}
    >
      <ApplicationFields />
    </Form>
  );
}
