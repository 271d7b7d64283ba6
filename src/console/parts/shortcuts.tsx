import { signal } from '@preact/signals';
import { shortcuts, useKeys } from '../keys.ts';
import { Dialog } from './dialog.tsx';

const open = signal(false);

/** Opens the list of shortcuts. */
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
        </tbody>
      </table>
      <p class="quiet">Arrow keys move in tables and charts. Enter opens a row.</p>
      <p class="actions">
        <button type="button" onClick={close}>
          Close
        </button>
      </p>
    </Dialog>
  );
}
