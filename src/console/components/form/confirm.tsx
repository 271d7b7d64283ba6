import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { Dialog } from '../dialog.tsx';
import { Field, Form } from './form.tsx';

interface ConfirmProps {
  readonly title: string;
  /** Label of the button: the action, not "OK". */
  readonly action: string;
  /** Announced after a success. */
  readonly done: string;
  /** Text to type first, for actions that lose much and cannot be undone. */
  readonly typed?: string;
  /** Runs the action. Errors are shown. `false` means that nothing was done. */
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** Asks before an action that cannot be undone. After a failure, the dialog stays open and shows the reason. */
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
  /** Short label; screen readers read the title instead. */
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
