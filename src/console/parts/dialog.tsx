import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

export interface DialogProps {
  readonly title: string;
  /** Called when the user wants to close it; without it the dialog stays until it is taken away. */
  readonly onClose?: () => void;
  readonly children: ComponentChildren;
}

/** A modal dialog: the browser keeps the focus in it, and puts it back after. */
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
      // Without it a second Escape closes a dialog, whatever was done about the first.
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

/** What had the focus before may be gone, such as a row that was deleted: then reading goes on at the page. */
function keepFocus(): void {
  if (document.activeElement === document.body)
    document.getElementById('main')?.focus({ preventScroll: true });
}
