import { useSignal } from '@preact/signals';
import { type ComponentChildren, createContext, type HTMLInputTypeAttribute } from 'preact';
import { useContext, useId, useRef } from 'preact/hooks';
import { describeError } from '../../api/problem.ts';
import { announce } from '../announce.tsx';
import { findField } from './field-problem.ts';
import { OptionList, type Options } from './filters.tsx';

interface Refusal {
  readonly field: string | undefined;
  readonly message: string;
}

const FormRefusal = createContext<Refusal | undefined>(undefined);

export interface FormProps {
  /** Sends the request. The form shows errors and keeps the input. `false` means that nothing was changed. */
  readonly onSubmit: (data: FormData) => Promise<unknown>;
  readonly submit: string;
  /** Text that is announced after a success. */
  readonly done: string;
  /** Names of fields by refusal code, for codes that do not contain the name of the field: `{ conflict: 'name' }`. */
  readonly codes?: Readonly<Record<string, string>>;
  readonly reset?: boolean;
  readonly danger?: boolean;
  readonly onCancel?: () => void;
  readonly children?: ComponentChildren;
}

export function Form({ onSubmit, submit, done, codes, reset, danger, onCancel, children }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const sending = useSignal(false);
  const refusal = useSignal<Refusal | undefined>(undefined);
  const succeeded = useSignal(false);

  async function send(event: SubmitEvent) {
    event.preventDefault();
    if (sending.value) return;
    sending.value = true;
    refusal.value = undefined;
    succeeded.value = false;
    const data = new FormData(form.current!);
    try {
      if ((await onSubmit(data)) === false) return;
      announce(done);
      succeeded.value = true;
      if (reset) form.current?.reset();
    } catch (error) {
      const field = findField(error, listFieldNames(form.current), codes);
      refusal.value = { field, message: describeError(error) };
      if (field !== undefined) focusField(form.current, field);
    } finally {
      sending.value = false;
    }
  }

  return (
    <form
      ref={form}
      class="form"
      onSubmit={(event) => void send(event)}
      onInput={() => (succeeded.value = false)}
      aria-busy={sending.value}
    >
      <FormRefusal.Provider value={refusal.value}>{children}</FormRefusal.Provider>
      {refusal.value !== undefined && refusal.value.field === undefined && (
        <p class="form-error" role="alert">
          {refusal.value.message}
        </p>
      )}
      <p class="actions">
        <button type="submit" class={danger ? 'danger' : 'primary'} disabled={sending.value}>
          {sending.value ? 'Sending …' : submit}
        </button>
        {onCancel && (
          // biome-ignore lint/a11y/noAutofocus: in a dialog, a hasty Enter must not start an action that cannot be undone
          <button type="button" autoFocus={danger ?? false} onClick={onCancel}>
            Cancel
          </button>
        )}
        {succeeded.value && <span class="form-done">{done}</span>}
      </p>
    </form>
  );
}

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** Renders the control with `id`, `name` and the `aria` properties; by default a text input. */
  readonly control?: (properties: ControlProperties) => ComponentChildren;
  readonly type?: HTMLInputTypeAttribute;
  readonly value?: string | undefined;
  readonly required?: boolean;
  readonly placeholder?: string;
  readonly autocomplete?: string;
  readonly maxLength?: number;
  readonly min?: string;
  readonly step?: string;
  readonly spellcheck?: boolean;
  /** Number of lines of a text area. */
  readonly rows?: number;
  readonly autoFocus?: boolean;
  readonly onInput?: (event: InputEvent & { readonly currentTarget: HTMLInputElement }) => void;
}

export interface ControlProperties {
  readonly id: string;
  readonly name: string;
  readonly required?: boolean;
  readonly 'aria-describedby'?: string;
  readonly 'aria-invalid'?: true;
}

/** A labelled control with a hint and the reason why the API refused its value. */
export function Field(props: FieldProps) {
  const { name, label, hint, control, type = 'text', value, required, autoFocus, rows, onInput, ...more } = props;
  const { id, described, refused, notes } = useNotes(name, hint);
  const properties: ControlProperties = {
    id,
    name,
    ...(required ? { required } : {}),
    ...(described ? { 'aria-describedby': described } : {}),
    ...(refused ? { 'aria-invalid': true } : {}),
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {control ? (
        control(properties)
      ) : rows !== undefined ? (
        <textarea {...properties} {...more} rows={rows} defaultValue={value ?? ''} />
      ) : (
        <input
          {...properties}
          {...more}
          {...(onInput && { onInput })}
          type={type as 'text'}
          // biome-ignore lint/a11y/noAutofocus: the first field of a dialog that the reader has opened
          autoFocus={autoFocus ?? false}
          {...(value === undefined ? {} : { defaultValue: value })}
        />
      )}
      {notes}
    </div>
  );
}

/** Renders the notes below a control: its hint, and the reason why the API refused its value. */
function useNotes(name: string, hint: ComponentChildren) {
  const id = useId();
  const refusal = useContext(FormRefusal);
  const refused = refusal?.field === name ? refusal.message : undefined;
  const described = [hint && `${id}-hint`, refused && `${id}-error`].filter(Boolean).join(' ');
  const notes = (
    <>
      {hint && (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      )}
      {refused && (
        <p id={`${id}-error`} class="field-error" role="alert">
          {refused}
        </p>
      )}
    </>
  );
  return { id, described, refused, notes };
}

interface SelectFieldProps extends Pick<FieldProps, 'name' | 'label' | 'hint'> {
  readonly options: Options;
  readonly value?: string | undefined;
  readonly onInput?: (value: string) => void;
}

export function SelectField({ options, value, onInput, ...field }: SelectFieldProps) {
  return (
    <Field
      {...field}
      control={(properties) => (
        <select {...properties} onInput={({ currentTarget }) => onInput?.(currentTarget.value)}>
          <OptionList options={options} selected={value} />
        </select>
      )}
    />
  );
}

export interface FieldGroupProps extends Pick<FieldProps, 'name' | 'hint'> {
  readonly legend: string;
  readonly class: string;
  readonly children: ComponentChildren;
}

export function FieldGroup({ name, legend, hint, class: className, children }: FieldGroupProps) {
  const { described, notes } = useNotes(name, hint);
  return (
    <fieldset name={name} class={className} tabIndex={-1} {...(described ? { 'aria-describedby': described } : {})}>
      <legend>{legend}</legend>
      {children}
      {notes}
    </fieldset>
  );
}

interface ChoicesProps extends Omit<FieldGroupProps, 'children' | 'class'> {
  readonly type: 'radio' | 'checkbox';
  readonly choices: readonly (readonly [value: string, label: string, hint: string])[];
  readonly checked: (value: string, index: number) => boolean;
  readonly framed?: boolean;
}

export function Choices({ type, choices, checked, framed, ...group }: ChoicesProps) {
  return (
    <FieldGroup class={framed ? 'choices choices-framed' : 'choices'} {...group}>
      {choices.map(([value, label, hint], index) => (
        <label key={value}>
          <input type={type} name={group.name} value={value} defaultChecked={checked(value, index)} />
          <span>
            <strong>{label}</strong>
            <span class="hint">{hint}</span>
          </span>
        </label>
      ))}
    </FieldGroup>
  );
}

export function readLines(data: FormData, name: string): readonly string[] {
  const lines = String(data.get(name) ?? '').split('\n');
  return lines.map((line) => line.trim()).filter((line) => line !== '');
}

/** Returns the form fields whose values differ from the values of the resource. */
export function changedFields(
  thing: object,
  fields: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const known = new Map(Object.entries(thing));
  return Object.fromEntries(Object.entries(fields).filter(([name, value]) => value !== (known.get(name) ?? '')));
}

function listFieldNames(form: HTMLFormElement | null): string[] {
  return form === null ? [] : Array.from(form.elements, (control) => control.getAttribute('name') ?? '');
}

/** Focuses a control by its name, or a group of controls. */
function focusField(form: HTMLFormElement | null, name: string): void {
  const found = form?.elements.namedItem(name);
  const control = found instanceof RadioNodeList ? found[0] : found;
  if (control instanceof HTMLElement) control.focus();
}
