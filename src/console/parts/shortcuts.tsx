import { useSignal } from '@preact/signals';
import { shortcuts, useKeys } from '../keys.ts';
import { Dialog } from './dialog.tsx';

/** `?` lists the shortcuts of the page. */
export function Shortcuts() {
  const open = useSignal(false);
  useKeys([
    {
      keys: '?',
      help: 'List the shortcuts',
      run: () => {
        open.value = true;
      },
    },
  ]);
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
