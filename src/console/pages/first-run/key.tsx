import type { ApplicationKey } from '../../../contract/shapes/application-key.ts';
import { resource } from '../../api/client.ts';
import { forget } from '../../api/poll.ts';
import { CopyButton } from '../../parts/copy.tsx';
import { OptionList } from '../../parts/form/filters.tsx';
import { Choices, Form } from '../../parts/form/form.tsx';
import { isAdmin } from '../../parts/resource/part.tsx';
import { createKey, type KeyType, keyTypes } from '../application-settings/key-types.ts';

/** A listed or a new key. */
export type KeyShown = Pick<ApplicationKey, 'id' | 'type' | 'name' | 'key'>;

interface NewKeyProps {
  readonly app: string;
  /** Types of keys to choose from. */
  readonly types: readonly KeyType[];
  readonly onCreated: (key: KeyShown) => void;
  readonly onCancel?: () => void;
}

const senders = { Frontend: 'A web page', Mobile: 'An app', Backend: 'A server' };

/** Creates a key. If the sender can use several types, asks for its kind first. */
export function NewKey({ app, types, onCreated, onCancel }: NewKeyProps) {
  const [only, ...others] = types;
  const isGiven = others.length === 0;
  if (!isAdmin()) return <p>The application has no such key yet. An Admin of the team can create one.</p>;
  async function create(data: FormData) {
    const made = await createKey(app, isGiven ? only! : (data.get('type') as KeyType), '');
    forget(resource('applications', app, 'keys'));
    onCreated(made);
  }
  const offered = keyTypes.filter(([type]) => types.includes(type));
  return (
    <Form
      onSubmit={create}
      submit={isGiven ? `Create a ${only} key` : 'Create the key'}
      done="The key is created"
      {...(onCancel && { onCancel })}
    >
      {isGiven ? (
        <p>{offered[0]?.[1]}</p>
      ) : (
        <Choices
          framed
          legend="Kind of sender"
          type="radio"
          name="type"
          choices={offered.map(([type, words]) => [type, senders[type], `${type} key. ${words}`])}
          checked={(_, index) => index === 0}
        />
      )}
    </Form>
  );
}

interface ChooseKeyProps {
  readonly keys: readonly KeyShown[];
  readonly chosen: KeyShown;
  readonly onChoose: (id: string) => void;
  readonly onNew: () => void;
}

/** Shows the key of the sender, and offers the others. */
export function ChooseKey({ keys, chosen, onChoose, onNew }: ChooseKeyProps) {
  return (
    <div class="connect-keys">
      <label>
        <span class="hidden">Key</span>
        <select value={chosen.id} onChange={(event) => onChoose(event.currentTarget.value)}>
          <OptionList
            options={keys.map(({ id, name, type }) => [
              id,
              name === type ? `${type} key` : `${name} (${type} key)`,
            ])}
          />
        </select>
      </label>
      {chosen.key !== undefined && (
        <>
          <code class="connect-keytext">{chosen.key}</code>
          <CopyButton text={chosen.key} title="Copy the key" />
        </>
      )}
      {isAdmin() && (
        <button type="button" onClick={onNew}>
          Another key
        </button>
      )}
      {chosen.type === 'Backend' && (
        <p class={chosen.key === undefined ? 'quiet' : 'warn'}>
          {chosen.key === undefined
            ? 'A Backend key is shown only once. Use the stored text, or create another key.'
            : 'This key is secret and is not shown again. Store it now, on servers only.'}
        </p>
      )}
    </div>
  );
}
