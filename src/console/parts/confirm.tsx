import type { ComponentChildren } from 'preact';
import { Dialog } from './dialog.tsx';
import { Field, Form } from './form.tsx';

export interface ConfirmProps {
  readonly title: string;
  /** What the button says: what it does, not "OK". */
  readonly action: string;
  /** Said when it is done. */
  readonly done: string;
  /** What has to be typed first, where it cannot be undone and much would be lost. */
  readonly typed?: string;
  /** What it throws is shown. When it gives `false`, nothing was done. */
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
  /** What will happen. */
  readonly children: ComponentChildren;
}

/** Asks before something is done that cannot be undone. It stays open, with the reason, when that fails. */
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
