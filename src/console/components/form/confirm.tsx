import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { Dialog } from '../dialog.tsx';
import { Field, Form } from './form.tsx';

interface ConfirmProps {
  readonly title: string;
  /** Label of the button: the name of the action, not "OK". */
  readonly action: string;
  /** Text that is announced after a success. */
  readonly done: string;
  /** Text that the reader must type before an action that loses a lot and cannot be undone. */
  readonly typed?: string;
  /** Runs the action. The dialog shows errors. `false` means that nothing was done. */
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** Asks before an action that cannot be undone. If the action fails, the dialog shows the reason. */
export function Confirm({ title, action, done, typed, onConfirm, onClose, children }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <Form
        submit={action}
        done={done}
        danger
        onCancel={onClose}
        onSubmit={async () => {
          const done = await onConfirm();
          onClose();
          return done;
        }}
      >
        {typed !== undefined && (
          <Field
            name="typed"
            label={`Type ${typed} to confirm`}
            required
            autocomplete="off"
            autoFocus
            onInput={({ currentTarget: input }) =>
              input.setCustomValidity(input.value === typed ? '' : `Type exactly: ${typed}`)
            }
          />
        )}
      </Form>
    </Dialog>
  );
}

export interface ConfirmButtonProps extends Omit<ConfirmProps, 'onClose'> {
  /** Short label of the button. Screen readers read the title instead. */
  readonly label: string;
  readonly danger?: boolean;
}

export function ConfirmButton({ label, danger, ...confirm }: ConfirmButtonProps) {
  const open = useSignal(false);
  return (
    <>
      <button
        type="button"
        class={danger ? 'danger' : undefined}
        aria-label={confirm.title}
        onClick={() => (open.value = true)}
      >
        {label} …
      </button>
      {open.value && <Confirm {...confirm} onClose={() => (open.value = false)} />}
    </>
  );
}
