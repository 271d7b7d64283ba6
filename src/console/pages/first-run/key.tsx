import { resource } from '../../api/client.ts';
import { forget } from '../../api/poll.ts';
import { CopyButton } from '../../parts/copy.tsx';
import { Form } from '../../parts/form.tsx';
import { type KeyType, keyTypes } from '../application-settings/key-words.ts';
import { createKey } from '../application-settings/new-key.tsx';
import { isAdmin } from '../settings/role.tsx';
import type { ApplicationKey } from '../settings/shapes.ts';

/** A key of the list, or one that was just created. */
export type KeyShown = Pick<ApplicationKey, 'id' | 'type' | 'name' | 'key'>;

interface NewKeyProps {
  readonly app: string;
  readonly onCreated: (key: KeyShown) => void;
  readonly onCancel?: () => void;
}

const senders = { Frontend: 'A web page', Mobile: 'An app', Backend: 'A server' };

/** Asks where the packets will come from: the type of the key follows from it. */
export function NewKey({ app, onCreated, onCancel }: NewKeyProps) {
  if (!isAdmin()) return <p>The application has no key yet. An Admin of the team creates one.</p>;
  async function create(data: FormData) {
    const made = await createKey(app, data.get('type') as KeyType, '');
    forget(resource('applications', app, 'keys'));
    onCreated(made);
  }
  return (
    <Form onSubmit={create} submit="Create the key" done="The key is created" {...(onCancel && { onCancel })}>
      <fieldset class="connect-types">
        <legend>What will send?</legend>
        {keyTypes.map(([type, words], index) => (
          <label key={type} class="connect-type">
            <input type="radio" name="type" value={type} defaultChecked={index === 0} />
            <span>
              <strong>{senders[type]}</strong>
              <span class="quiet">
                {type} key. {words}
              </span>
            </span>
          </label>
        ))}
      </fieldset>
    </Form>
  );
}

interface ChooseKeyProps {
  readonly keys: readonly KeyShown[];
  readonly chosen: KeyShown;
  readonly onChoose: (id: string) => void;
  readonly onNew: () => void;
}

/** Shows the key that the sender has, and offers the others. */
export function ChooseKey({ keys, chosen, onChoose, onNew }: ChooseKeyProps) {
  return (
    <div class="connect-keys">
      <label>
        <span class="hidden">Key</span>
        <select value={chosen.id} onChange={(event) => onChoose(event.currentTarget.value)}>
          {keys.map(({ id, name, type }) => (
            <option key={id} value={id}>
              {name === type ? `${type} key` : `${name} (${type} key)`}
            </option>
          ))}
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
            ? 'A Backend key is shown only once. Take it from where you keep it, or create another one.'
            : 'This key is a secret and is not shown again: keep it now, on servers only.'}
        </p>
      )}
    </div>
  );
}
