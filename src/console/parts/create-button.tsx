import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { Dialog } from './dialog.tsx';
import { Form, type FormProps } from './form.tsx';
import { Secret, type Shown } from './secret.tsx';

export interface CreateButtonProps extends Pick<FormProps, 'codes'> {
  /** What the button and its dialog say: "Create a key". */
  readonly label: string;
  readonly primary?: boolean;
  /** Makes it. What it gives is shown, to be copied. */
  readonly create: (data: FormData) => Promise<Shown | undefined>;
  /** Called when it is made, and copied. */
  readonly onDone?: () => void;
  /** The fields. */
  readonly children: ComponentChildren;
}

/** A button that opens a form which makes something. */
export function CreateButton({ label, primary, create, onDone, codes, children }: CreateButtonProps) {
  const open = useSignal(false);
  const made = useSignal<Shown | undefined>(undefined);
  const close = () => {
    open.value = false;
    made.value = undefined;
  };
  const finish = () => {
    close();
    onDone?.();
  };
  return (
    <div class="actions">
      <button
        type="button"
        class={primary ? 'primary' : undefined}
        onClick={() => {
          open.value = true;
        }}
      >
        {label} …
      </button>
      {made.value !== undefined && <Secret {...made.value} onDone={finish} />}
      {open.value && made.value === undefined && (
        <Dialog title={label} onClose={close}>
          <Form
            submit="Create"
            done="Created"
            {...(codes && { codes })}
            onCancel={close}
            onSubmit={async (data) => {
              made.value = await create(data);
              if (made.value === undefined) finish();
            }}
          >
            {children}
          </Form>
        </Dialog>
      )}
    </div>
  );
}
