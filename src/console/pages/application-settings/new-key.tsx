import { useSignal } from '@preact/signals';
import { call, resource } from '../../api/client.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Form } from '../../parts/form.tsx';
import { Secret } from '../../parts/secret.tsx';
import type { NewApplicationKey } from '../settings/shapes.ts';
import { type KeyType, keyTypes } from './key-words.ts';

export interface NewKeyProps {
  readonly application: string;
  readonly onClose: () => void;
}

/** Makes a key, and shows it. */
export function NewKey({ application, onClose }: NewKeyProps) {
  const made = useSignal<NewApplicationKey | undefined>(undefined);
  if (made.value !== undefined) return <KeyShown made={made.value} onDone={onClose} />;
  return (
    <Dialog title="Create a key" onClose={onClose}>
      <Form
        submit="Create the key"
        done="The key is created"
        codes={{ invalid_name: 'name', plan_limit: 'name' }}
        onCancel={onClose}
        onSubmit={async (data) => {
          const { name, type } = Object.fromEntries(data);
          made.value = await createKey(application, String(type) as KeyType, String(name));
        }}
      >
        <fieldset class="settings-choice">
          <legend>Type</legend>
          {keyTypes.map(([type, words], index) => (
            <label key={type}>
              <input type="radio" name="type" value={type} defaultChecked={index === 0} />
              <span>
                <strong>{type}</strong>
                <span class="hint">{words}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <Field name="name" label="Name" hint="What it is for, such as the name of a site. Empty: its type." />
      </Form>
    </Dialog>
  );
}

/** Makes a key. @param name empty for the name of its type */
export function createKey(application: string, type: KeyType, name: string): Promise<NewApplicationKey> {
  const body = { type, ...(name === '' ? {} : { name }) };
  return call('POST', resource('applications', application, 'keys'), { body });
}

interface KeyShownProps {
  readonly made: NewApplicationKey;
  readonly confirm?: string;
  readonly onDone: () => void;
}

/** A key that was made. Only a Backend key is never shown again. */
export function KeyShown({ made: { name, key, type }, ...more }: KeyShownProps) {
  return type === 'Backend' ? (
    <Secret title={`Copy the key ${name} now`} values={[['Key', key]]} {...more}>
      <p class="warn">
        This is the only time that it is shown: the service keeps a hash of it, and cannot show it again.
        Store it where your servers keep their secrets; never in a page, an app or a repository.
      </p>
    </Secret>
  ) : (
    <Secret title={`The key ${name} works from now on`} values={[['Key', key]]} confirm="Done" {...more}>
      <p>It is not secret, and you can copy it from the list of keys at any time.</p>
    </Secret>
  );
}
