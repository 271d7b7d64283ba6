import { signal } from '@preact/signals';
import { Dialog } from './dialog.tsx';
import { shortcuts, useKeys } from './keys.ts';

const open = signal(false);

/** The keys of a table or chart that has the focus. */
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

/** The list of the page's shortcuts, which `?` opens. */
export function Shortcuts() {
  useKeys([{ keys: '?', help: 'List the shortcuts', run: openShortcuts }]);
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
      <p class="actions">
        <button type="button" onClick={close}>
          Close
        </button>
      </p>
    </Dialog>
  );
}
