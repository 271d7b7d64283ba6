import { computed, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

/** A shortcut: one key, or two that are pressed one after the other (`g f`). */
export interface Shortcut {
  readonly keys: string;
  /** What the list of shortcuts says of it: "Search the flags". */
  readonly help: string;
  readonly run: () => void;
}

const registered = signal<readonly (readonly Shortcut[])[]>([]);

/** The shortcuts of what is on the page now. */
export const shortcuts = computed(() => registered.value.flat());

/** Offers shortcuts as long as a component is there. */
export function useKeys(own: readonly Shortcut[]): void {
  const listed = own.map(({ keys, help }) => `${keys} ${help}`).join();
  useEffect(() => {
    registered.value = [...registered.value, own];
    return () => {
      registered.value = registered.value.filter((each) => each !== own);
    };
  }, [listed]);
}

/** Two keys of a sequence may be so far apart. */
const sequenceMs = 1200;

/**
 * Follows what is pressed.
 * @returns takes a key and when it was pressed (ms), gives the shortcut that is complete with it
 */
export function keySequence(offered: () => readonly Shortcut[]) {
  let before: { key: string; at: number } | undefined;
  return (key: string, at: number): Shortcut | undefined => {
    const pair = before !== undefined && at - before.at <= sequenceMs ? `${before.key} ${key}` : undefined;
    // The component that came last knows best.
    const found =
      offered().findLast(({ keys }) => keys === pair) ?? offered().findLast(({ keys }) => keys === key);
    before = found === undefined ? { key, at } : undefined;
    return found;
  };
}

/** Runs shortcuts from now on, but not while the reader types, or answers a dialog. */
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
