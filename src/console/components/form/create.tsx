import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { now } from '../../api/clock.ts';
import { format } from '../../text/format.ts';
import { CopyButton } from '../copy.tsx';
import { Dialog } from '../dialog.tsx';
import { Form, type FormProps } from './form.tsx';

export interface CreateButtonProps extends Pick<FormProps, 'codes'> {
  /** Label of the button and title of its dialog: "Create key". */
  readonly label: string;
  readonly primary?: boolean;
  /** Sends the request. The dialog shows the result for copying. */
  readonly create: (data: FormData) => Promise<SecretContent | undefined>;
  readonly onDone?: () => void;
  readonly children: ComponentChildren;
}

export function CreateButton({ label, primary, create, onDone, codes, children }: CreateButtonProps) {
  const open = useSignal(false);
  const created = useSignal<SecretContent | undefined>(undefined);
  const close = () => {
    open.value = false;
    created.value = undefined;
  };
  const finish = () => {
    close();
    onDone?.();
  };
  return (
    <div class="actions">
      <button type="button" class={primary ? 'primary' : undefined} onClick={() => (open.value = true)}>
        {label} …
      </button>
      {created.value !== undefined && <Secret {...created.value} onDone={finish} />}
      {open.value && created.value === undefined && (
        <Dialog title={label} onClose={close}>
          <Form
            submit="Create"
            done="Created"
            {...(codes && { codes })}
            onCancel={close}
            onSubmit={async (data) => {
              created.value = await create(data);
              if (created.value === undefined) finish();
            }}
          >
            {children}
          </Form>
        </Dialog>
      )}
    </div>
  );
}

interface EndingSecretProps {
  readonly what?: 'key' | 'secret';
  /** Time until which the previous key or secret is valid. */
  readonly until: string | null | undefined;
}

/** Warns that a further rotation ends the validity of the previous key or secret. */
export function EndingSecret({ what = 'secret', until }: EndingSecretProps) {
  if (!until || Date.parse(until) <= now.value) return null;
  return (
    <p class="warn">
      The previous {what} is valid until {format.time(until)}. A new {what} ends its validity now.
    </p>
  );
}

export interface SecretContent {
  readonly title: string;
  readonly values: readonly (readonly [label: string, text: string])[];
  readonly once: boolean;
  readonly toSend?: boolean;
  readonly note?: ComponentChildren;
}

/** Shows values for copying. A dialog with a secret stays open until the reader confirms that it is stored. */
export function Secret({ title, values, once, toSend, note, onDone }: SecretContent & { readonly onDone: () => void }) {
  return (
    <Dialog title={title} {...(once ? {} : { onClose: onDone })}>
      {once && (
        <p class="warn">
          This text is shown only once.{' '}
          {toSend ? 'Send it in a way that nobody else can read.' : 'Store it with your other secrets.'}
        </p>
      )}
      {note && <p>{note}</p>}
      {values.map(([label, text]) => (
        <div key={label} class="copy-line">
          <span class="copy-line-label">{label}</span>
          <code>{text}</code>
          <CopyButton text={text} title={`Copy: ${label}`} />
        </div>
      ))}
      <p class="actions">
        <button type="button" class="primary" onClick={onDone}>
          {once && !toSend ? 'I have stored it' : 'Done'}
        </button>
      </p>
    </Dialog>
  );
}
