import { useId } from 'preact/hooks';

export interface ChoiceProps<Value extends string> {
  readonly label: string;
  readonly values: readonly Value[];
  readonly names?: Readonly<Record<Value, string>>;
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

export function Choice<Value extends string>({ label, values, names, value, onChange }: ChoiceProps<Value>) {
  const name = useId();
  return (
    <fieldset class="flag-choice">
      <legend class="hidden">{label}</legend>
      {values.map((each) => (
        <label key={each}>
          <input type="radio" name={name} checked={each === value} onChange={() => onChange(each)} />
          <span>{names?.[each] ?? each}</span>
        </label>
      ))}
    </fieldset>
  );
}
