import { useSignal } from '@preact/signals';
import { Confirm, type ConfirmProps } from './confirm.tsx';

export interface ConfirmButtonProps extends Omit<ConfirmProps, 'onClose'> {
  /** What the button says, short: the title says it in full, also to readers of a screen. */
  readonly label: string;
  readonly danger?: boolean;
}

/** A button that asks before it does something that cannot be undone. */
export function ConfirmButton({ label, danger, ...confirm }: ConfirmButtonProps) {
  const open = useSignal(false);
  return (
    <>
      <button
        type="button"
        class={danger ? 'danger' : undefined}
        aria-label={confirm.title}
        onClick={() => {
          open.value = true;
        }}
      >
        {label} …
      </button>
      {open.value && (
        <Confirm
          {...confirm}
          onClose={() => {
            open.value = false;
          }}
        />
      )}
    </>
  );
}
