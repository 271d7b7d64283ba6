import { signal } from '@preact/signals';
import { shortcuts, useKeys } from '../keys.ts';
import { Dialog } from './dialog.tsx';

const open = signal(false);

/** Lists the shortcuts of the page. */
export function openShortcuts(): void {
  open.value = true;
}

/** The list of the shortcuts of the page, which `?` opens. */
export function Shortcuts() {
  useKeys([{ keys: '?', help: 'List the shortcuts', run: openShortcuts }]);
  if (!open.value) return null;
  const close = () => {
    open.value = false;
  };
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
      <p class="quiet">In tables the arrows move, Enter opens. In charts the arrows move the cursor.</p>
      <p class="actions">
        <button type="button" onClick={close}>
          Close
        </button>
      </p>
    </Dialog>
  );
}
