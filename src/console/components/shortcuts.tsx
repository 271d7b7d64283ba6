import { computed, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { CloseButton, Dialog } from './dialog.tsx';

const open = signal(false);

const withFocus: readonly (readonly [keys: readonly string[], help: string])[] = [
  [['↑', '↓', 'Page Up', 'Page Down', 'Home', 'End'], 'In a table: move between rows'],
  [['Enter'], 'In a table: open the row'],
  [['←', '→', 'Page Up', 'Page Down', 'Home', 'End'], 'In a chart: move between buckets'],
  [['Shift + ←', 'Shift + →'], 'In a chart: select a range'],
  [['Enter'], 'In a chart: zoom into the selection'],
  [['Escape'], 'In a chart: clear the selection'],
];

export function openShortcuts(): void {
  open.value = true;
}

export function Shortcuts() {
  useKeys([{ keys: '?', help: 'List shortcuts', run: openShortcuts }]);
  if (!open.value) return null;
  const close = () => (open.value = false);
  return (
    <Dialog title="Shortcuts" onClose={close}>
      <table class="shortcuts">
        <tbody>
          {shortcuts.value.map(({ keys, help }) => (
            <tr key={keys}>
              <th scope="row">
                {keys.split(' ').map((key, index) => (
                  <>
                    {index > 0 && ' then '}
                    <kbd>{key}</kbd>
                  </>
                ))}
              </th>
              <td>{help}</td>
            </tr>
          ))}
          {withFocus.map(([keys, help]) => (
            <tr key={help}>
              <th scope="row">
                {keys.map((key) => (
                  <>
                    <kbd>{key}</kbd>{' '}
                  </>
                ))}
              </th>
              <td>{help}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <CloseButton onClose={close} />
    </Dialog>
  );
}

/** A shortcut: one key, or two keys in sequence (`g f`). */
export interface Shortcut {
  readonly keys: string;
  /** Description for the list of shortcuts: "Search flags". */
  readonly help: string;
  readonly run: () => void;
}

const registered = signal<readonly (readonly Shortcut[])[]>([]);

const shortcuts = computed(() => registered.value.flat());

export function useKeys(own: readonly Shortcut[]): void {
  const listed = own.map(({ keys, help }) => `${keys} ${help}`).join();
  useEffect(() => {
    registered.value = [...registered.value, own];
    return () => {
      registered.value = registered.value.filter((each) => each !== own);
    };
  }, [listed]);
}

/** Maximum time between the two keys of a sequence, ms. */
const sequenceMs = 1200;

/**
 * Recognises shortcuts in a sequence of keys.
 * @returns a function that takes a key and its time (ms), and returns the shortcut that the key completes
 */
export function keySequence(offered: () => readonly Shortcut[]) {
  let before: { key: string; at: number } | undefined;
  return (key: string, at: number): Shortcut | undefined => {
    const pair = before !== undefined && at - before.at <= sequenceMs ? `${before.key} ${key}` : undefined;
    // If components share a shortcut, the component that was mounted last takes precedence.
    const found = offered().findLast(({ keys }) => keys === pair) ?? offered().findLast(({ keys }) => keys === key);
    before = found === undefined ? { key, at } : undefined;
    return found;
  };
}

/** Runs shortcuts, except while the reader types in a field or a dialog is open. */
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
    target instanceof Element && target.closest('input, textarea, select, [contenteditable], [role=menu]') !== null
  );
}
