import { useSignal } from '@preact/signals';
import type { ComponentChild } from 'preact';

/** The one dialog that a part of a page can have open. */
export interface OpenDialog {
  /** To be put at the end of the part. */
  readonly element: ComponentChild;
  open(dialog: ComponentChild): void;
  close(): void;
}

/** Opens dialogs where a button is pressed, and not where they stand in the page. */
export function useDialog(): OpenDialog {
  const element = useSignal<ComponentChild>(null);
  return {
    element: element.value,
    open(dialog) {
      element.value = dialog;
    },
    close() {
      element.value = null;
    },
  };
}
