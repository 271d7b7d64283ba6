import { useSignal } from '@preact/signals';
import { useId, useRef } from 'preact/hooks';
import { OptionList, type Options } from './filters.tsx';
import { FieldGroup, type FieldGroupProps } from './form.tsx';

type Row = Readonly<Record<string, string>>;

interface RowColumn {
  readonly name: string;
  readonly label: string;
  /** The values of a `select`; absent for an input. */
  readonly options?: Options;
  readonly placeholder?: string;
}

interface RowsProps extends Omit<FieldGroupProps, 'children' | 'class'> {
  /** Noun for a row: "rule". */
  readonly noun: string;
  readonly rows: readonly Row[];
  readonly columns: readonly RowColumn[];
}

export function Rows({ name, noun, rows, columns, ...group }: RowsProps) {
  const shown = useSignal(rows.map((row, key) => ({ key, row })));
  const added = useRef(rows.length);
  const end = useRef<HTMLButtonElement>(null);
  const add = () => {
    shown.value = [...shown.value, { key: added.current++, row: {} }];
    // The timer runs after the new row is rendered, so that its input can get the focus.
    setTimeout(() => end.current?.previousElementSibling?.querySelector('input')?.focus());
  };
  const remove = (key: number) => {
    shown.value = shown.value.filter((each) => each.key !== key);
    setTimeout(() => end.current?.focus());
  };
  return (
    <FieldGroup name={name} class="rows" {...group}>
      {shown.value.map(({ key, row }, at) => (
        <fieldset key={key} class="row" aria-label={`${group.legend}: ${noun} ${at + 1}`}>
          {columns.map((column) => (
            <Cell key={column.name} name={`${name}.${column.name}`} column={column} value={row[column.name]} />
          ))}
          <button type="button" aria-label={`Remove ${noun} ${at + 1}`} onClick={() => remove(key)}>
            Remove
          </button>
        </fieldset>
      ))}
      <button ref={end} type="button" onClick={add}>
        Add {noun}
      </button>
    </FieldGroup>
  );
}

interface CellProps {
  readonly name: string;
  readonly column: RowColumn;
  readonly value: string | undefined;
}

function Cell({ name, column: { label, options, placeholder }, value }: CellProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {options === undefined ? (
        <input id={id} name={name} defaultValue={value ?? ''} placeholder={placeholder} required autocomplete="off" />
      ) : (
        <select id={id} name={name}>
          <OptionList options={options} selected={value} />
        </select>
      )}
    </div>
  );
}

export function readRows<Name extends string>(
  data: FormData,
  name: string,
  columns: readonly Name[],
): readonly Readonly<Record<Name, string>>[] {
  const values = columns.map((column) => data.getAll(`${name}.${column}`));
  return (values[0] ?? []).map(
    (_, at) =>
      Object.fromEntries(columns.map((column, of) => [column, String(values[of]?.[at]).trim()])) as Record<
        Name,
        string
      >,
  );
}
