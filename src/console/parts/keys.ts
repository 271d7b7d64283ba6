import { computed, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

/** A shortcut: one key, or two in sequence (`g f`). */
export interface Shortcut {
  readonly keys: string;
  /** Description in the list of shortcuts: "Search the flags". */
  readonly help: string;
  readonly run: () => void;
}

const registered = signal<readonly (readonly Shortcut[])[]>([]);

export const shortcuts = computed(() => registered.value.flat());

/** Registers shortcuts while a component is mounted. */
export function useKeys(own: readonly Shortcut[]): void {
  const listed = own.map(({ keys, help }) => `${keys} ${help}`).join();
  useEffect(() => {
    registered.value = [...registered.value, own];
    return () => {
      registered.value = registered.value.filter((each) => each !== own);
    };
  }, [listed]);
}

/** Maximum time between two keys of a sequence, ms. */
const sequenceMs = 1200;

/**
 * Recognizes shortcuts in a sequence of keys.
 * @returns a function that takes a key and its time (ms), and returns the shortcut that the key completes
 */
export function keySequence(offered: () => readonly Shortcut[]) {
  let before: { key: string; at: number } | undefined;
  return (key: string, at: number): Shortcut | undefined => {
    const pair = before !== undefined && at - before.at <= sequenceMs ? `${before.key} ${key}` : undefined;
    // The component that was mounted last takes precedence.
    const found =
      offered().findLast(({ keys }) => keys === pair) ?? offered().findLast(({ keys }) => keys === key);
    before = found === undefined ? { key, at } : undefined;
    return found;
  };
}

/** Runs shortcuts, except while the reader types or a dialog is open. */
export function startKeys(): void {
  const take = keySequence(() => shortcuts.value);
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || busy(event)) return;
    const shortcut = take(event.key, event.timeStamp);
    if (shortcut === undefined) return;
    event.preventDefault();
    shortcut.run();
  });
}

function busy({ target }: Event): boolean {
  if (document.querySelector('dialog[open]') !== null) return true;
  return (
    target instanceof Element &&
    target.closest('input, textarea, select, [contenteditable], [role=menu]') !== null
  );
}
