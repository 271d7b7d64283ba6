import { useSignal } from '@preact/signals';
import type { ComponentChild, ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

export interface DialogProps {
  readonly title: string;
  /** Called when the user closes it; without it the user cannot. */
  readonly onClose?: () => void;
  readonly children: ComponentChildren;
}

/** A modal dialog. The browser keeps the focus in it, and restores the focus afterwards. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const shown = dialog.current!;
    shown.showModal();
    return () => {
      shown.close();
      setTimeout(keepFocus);
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={titleId}
      // Otherwise a second Escape closes the dialog, whatever `onCancel` does.
      {...(onClose === undefined ? { closedby: 'none' } : {})}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
    >
      <h2 id={titleId}>{title}</h2>
      {children}
    </dialog>
  );
}

/** Focuses the page if the element that had the focus before is gone, such as a deleted row. */
function keepFocus(): void {
  if (document.activeElement === document.body)
    document.getElementById('main')?.focus({ preventScroll: true });
}

/** The state of a part of a page that opens one dialog at a time. */
export interface OpenDialog {
  /** Belongs at the end of the part. */
  readonly element: ComponentChild;
  open(dialog: ComponentChild): void;
  close(): void;
}

/** Opens dialogs from an event handler. */
export function useDialog(): OpenDialog {
  const element = useSignal<ComponentChild>(null);
  const open = (dialog: ComponentChild) => {
    element.value = dialog;
  };
  return { element: element.value, open, close: () => open(null) };
}
