import { useSignal } from '@preact/signals';
import { Dialog } from '../../components/dialog.tsx';
import { Form } from '../../components/form/form.tsx';
import { changePreferences } from '../../reader/reader.tsx';

interface ColumnsDialogProps {
  /** All columns that can be selected, in their default order. */
  readonly columns: readonly { readonly key: string; readonly title: string }[];
  readonly shown: readonly string[];
  readonly onClose: () => void;
}

export function ColumnsDialog({ columns, shown, onClose }: ColumnsDialogProps) {
  const rest = columns.map(({ key }) => key).filter((key) => !shown.includes(key));
  const order = useSignal([...shown, ...rest]);
  const chosen = useSignal<ReadonlySet<string>>(new Set(shown));
  const titles = new Map(columns.map(({ key, title }) => [key, title]));
  const move = (key: string, by: -1 | 1) => {
    const keys = order.value.filter((each) => each !== key);
    keys.splice(order.value.indexOf(key) + by, 0, key);
    order.value = keys;
  };
  const choose = (key: string, on: boolean) => {
    const next = new Set(chosen.value);
    if (on) next.add(key);
    else next.delete(key);
    chosen.value = next;
  };
  async function save(keys: string[] | null) {
    await changePreferences({ columns: { flags: keys } });
    onClose();
  }
  return (
    <Dialog title="Columns" onClose={onClose}>
      <Form
        submit="Save"
        done="Columns saved"
        onCancel={onClose}
        onSubmit={() => save(order.value.filter((key) => chosen.value.has(key)))}
      >
        <ul class="plain-list columns-list">
          {order.value.map((key, index) => (
            <Choice
              key={key}
              title={titles.get(key)!}
              checked={chosen.value.has(key)}
              isFirst={index === 0}
              isLast={index === order.value.length - 1}
              onChoose={(on) => choose(key, on)}
              onMove={(by) => move(key, by)}
            />
          ))}
        </ul>
        <p>
          <button type="button" class="link" onClick={() => void save(null)}>
            Restore default columns
          </button>
        </p>
      </Form>
    </Dialog>
  );
}

interface ChoiceProps {
  readonly title: string;
  readonly checked: boolean;
  readonly isFirst: boolean;
  readonly isLast: boolean;
  readonly onChoose: (on: boolean) => void;
  readonly onMove: (by: -1 | 1) => void;
}

function Choice({ title, checked, isFirst, isLast, onChoose, onMove }: ChoiceProps) {
  return (
    <li>
      <label>
        <input type="checkbox" checked={checked} onChange={({ currentTarget }) => onChoose(currentTarget.checked)} />
        {title}
      </label>
      <button type="button" aria-label={`Move ${title} up`} disabled={isFirst} onClick={() => onMove(-1)}>
        ↑
      </button>
      <button type="button" aria-label={`Move ${title} down`} disabled={isLast} onClick={() => onMove(1)}>
        ↓
      </button>
    </li>
  );
}
