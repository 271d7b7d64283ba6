import { call, resource } from '../../api/client.ts';
import type { Shown } from '../../parts/create.tsx';
import { CreateButton } from '../../parts/create.tsx';
import { Field } from '../../parts/form.tsx';
import type { NewApplicationKey } from '../settings/shapes.ts';
import { type KeyType, keyTypes } from './key-words.ts';

export interface NewKeyProps {
  readonly application: string;
  readonly onDone: () => void;
}

/** Makes a key, and shows it. */
export function NewKey({ application, onDone }: NewKeyProps) {
  return (
    <CreateButton
      primary
      label="Create a key"
      codes={{ plan_limit: 'name' }}
      onDone={onDone}
      create={async (data) => {
        const { name, type } = Object.fromEntries(data);
        return shownKey(await createKey(application, type as KeyType, String(name)));
      }}
    >
      <fieldset class="choices">
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
      <Field name="name" label="Name" hint="What it is for. Empty: its type." />
    </CreateButton>
  );
}

/** Makes a key. @param name empty for the name of its type */
export function createKey(application: string, type: KeyType, name: string): Promise<NewApplicationKey> {
  const body = { type, ...(name === '' ? {} : { name }) };
  return call('POST', resource('applications', application, 'keys'), { body });
}

/** How a new key is shown. Only a Backend key is never shown again. */
export function shownKey({ name, key, type }: NewApplicationKey): Shown {
  const once = type === 'Backend';
  return {
    title: once ? `Copy the key ${name} now` : `The key ${name} works from now on`,
    once,
    note: once
      ? 'Never put it into a page, an app or a repository.'
      : 'It is not secret. The list of keys has it at any time.',
    values: [['Key', key]],
  };
}
