import type { Static } from 'typebox';
import type { ApplicationKey, ApplicationKeyShownOnce } from '../../../manage/keys.ts';
import { call, resource } from '../../api/client.ts';
import { forget } from '../../api/poll.ts';
import { CopyButton } from '../../parts/copy.tsx';
import { Form } from '../../parts/form.tsx';
import { user } from '../../session.ts';
import type { KeyType } from './snippets.ts';

/** A key of the list, or one that was just created. */
export type KeyShown = Pick<Static<typeof ApplicationKey>, 'id' | 'type' | 'name' | 'key'>;

interface NewKeyProps {
  readonly app: string;
  readonly onCreated: (key: KeyShown) => void;
  readonly onCancel?: () => void;
}

const types: readonly { readonly type: KeyType; readonly label: string; readonly text: string }[] = [
  {
    type: 'Frontend',
    label: 'A web page',
    text: 'Frontend key. Everyone may see it. It is taken from pages only, and only from the origins that you allow.',
  },
  {
    type: 'Mobile',
    label: 'A mobile or desktop app',
    text: 'Mobile key. Everyone may see it. It needs no origin.',
  },
  {
    type: 'Backend',
    label: 'A server',
    text: 'Backend key. It is a secret and is shown once: keep it on your servers. It also mints instance ids for users.',
  },
];

/** Asks where the packets will come from: the type of the key follows from it. */
export function NewKey({ app, onCreated, onCancel }: NewKeyProps) {
  if (user.value?.role !== 'Admin')
    return <p>The application has no key yet. An Admin of the team creates one.</p>;
  async function create(data: FormData) {
    const made = await call<Static<typeof ApplicationKeyShownOnce>>(
      'POST',
      resource('applications', app, 'keys'),
      {
        body: { type: data.get('type') },
      },
    );
    forget(resource('applications', app, 'keys'));
    onCreated(made);
  }
  return (
    <Form onSubmit={create} submit="Create the key" done="The key is created" {...(onCancel && { onCancel })}>
      <fieldset class="connect-types">
        <legend>What will send?</legend>
        {types.map(({ type, label, text }, index) => (
          <label key={type} class="connect-type">
            <input type="radio" name="type" value={type} defaultChecked={index === 0} />
            <span>
              <strong>{label}</strong>
              <span class="quiet">{text}</span>
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
      {user.value?.role === 'Admin' && (
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
