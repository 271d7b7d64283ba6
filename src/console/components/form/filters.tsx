import type { HTMLInputTypeAttribute } from 'preact';
import { useId } from 'preact/hooks';
import { useQuery } from '../../address/address.ts';

/** Values of a choice, each with a label that defaults to the value. */
export type Options = readonly (readonly [value: string, label?: string])[];

interface FilterProps {
  readonly name: string;
  readonly label: string;
  /** The values of a `select`; absent for an input. */
  readonly options?: Options;
  readonly type?: HTMLInputTypeAttribute;
}

export function Filter({ name, label, options, type = 'search' }: FilterProps) {
  const { query, change } = useQuery();
  const id = useId();
  const control = {
    id,
    value: query[name] ?? '',
    onInput: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
      change({ [name]: currentTarget.value || undefined }),
  };
  return (
    <div>
      <label for={id}>{label}</label>
      {options === undefined ? (
        <input type={type as 'text'} {...control} />
      ) : (
        <select {...control}>
          <OptionList options={options} />
        </select>
      )}
    </div>
  );
}

/** The options of a `select`. @param selected the initial value of an uncontrolled `select` */
export function OptionList({ options, selected }: { options: Options; selected?: string | undefined }) {
  return (
    <>
      {options.map(([value, label = value]) => (
        <option key={value} value={value} selected={value === selected || undefined}>
          {label}
        </option>
      ))}
    </>
  );
}

/** Adds chosen values that are missing from the options, so that they stay chosen. */
export function withChosen(options: Options, chosen: readonly string[]): Options {
  const others = new Set(chosen);
  for (const [value] of options) others.delete(value);
  return [...options, ...Array.from(others, (value) => [value] as const)];
}
