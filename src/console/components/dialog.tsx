import { useSignal } from '@preact/signals';
import type { ComponentChild, ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

interface DialogProps {
  readonly title: string;
  /** Called when the user closes the dialog; absent if the user cannot close it. */
  readonly onClose?: () => void;
  readonly children: ComponentChildren;
}

/** A modal dialog. The browser keeps the focus in it, and returns the focus when the dialog closes. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const before = document.activeElement;
    dialog.current!.showModal();
    // The browser does not restore the focus if the dialog is removed from the page.
    return () => setTimeout(restoreFocus, 0, before);
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={titleId}
      // Prevents a second Escape from closing the dialog, which `onCancel` cannot prevent.
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

/** The only button of a dialog without a form. */
export function CloseButton({ onClose, primary }: { onClose: () => void; primary?: boolean }) {
  return (
    <p class="actions">
      <button type="button" class={primary ? 'primary' : undefined} onClick={onClose}>
        Close
      </button>
    </p>
  );
}

interface OpenDialog {
  /** The open dialog, to be rendered at the end of the component. */
  readonly element: ComponentChild;
  open(dialog: ComponentChild): void;
  close(): void;
}

/** Opens dialogs from an event handler. */
export function useDialog(): OpenDialog {
  const element = useSignal<ComponentChild>(null);
  const open = (dialog: ComponentChild) => (element.value = dialog);
  return { element: element.value, open, close: () => open(null) };
}

/**
 * Focuses the element that had the focus before. If the element is gone, such as a deleted row, focuses the page. Does
 * nothing if another element has the focus.
 */
export function restoreFocus(before: Element | null): void {
  for (const next of [before, document.getElementById('main')])
    if (document.activeElement === document.body && next instanceof HTMLElement) next.focus({ preventScroll: true });
}
