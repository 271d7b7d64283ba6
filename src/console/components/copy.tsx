import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { announce } from './announce.tsx';

interface CopyButtonProps {
  readonly text: string | (() => string);
  /** Label of the button; by default "Copy". */
  readonly label?: string;
  /** Label for screen readers: "Copy key". */
  readonly title?: string;
}

export function CopyButton({ text, label = 'Copy', title }: CopyButtonProps) {
  const state = useSignal<'copied' | 'failed' | undefined>(undefined);
  useEffect(() => {
    if (state.value === undefined) return undefined;
    const timer = setTimeout(() => (state.value = undefined), 2000);
    return () => clearTimeout(timer);
  }, [state.value]);
  async function copy() {
    state.value = (await copyAloud(typeof text === 'string' ? text : text())) ? 'copied' : 'failed';
  }
  const shown = state.value === undefined ? label : state.value === 'copied' ? 'Copied ✓' : 'Not copied';
  return (
    <button
      type="button"
      class="copy"
      aria-label={state.value === undefined ? (title ?? label) : shown}
      onClick={() => void copy()}
    >
      {/* Hidden text that makes the button as wide as the widest of its labels. */}
      <span class="copy-space" aria-hidden="true">
        {label.length > 8 ? label : 'Copied ✓'}
      </span>
      <span class="copy-text">{shown}</span>
    </button>
  );
}

/** Copies a text and announces the result. @returns true after a success */
export async function copyAloud(text: string): Promise<boolean> {
  const done = await copyText(text);
  announce(done ? 'Copied' : 'Copying failed. Select the text and copy it by hand.');
  return done;
}

export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Browsers do not offer the clipboard to pages over plain HTTP.
    return copySelected(text);
  }
}

function copySelected(text: string): boolean {
  const focused = document.activeElement;
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'hidden';
  // While a dialog is open, only elements in the dialog can get the focus.
  (document.querySelector('dialog[open]') ?? document.body).append(area);
  area.select();
  try {
    return document.execCommand('copy');
  } catch {
    return false;
  } finally {
    area.remove();
    if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  }
}
