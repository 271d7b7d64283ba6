import { useSignal } from '@preact/signals';
import { type ComponentChildren, createContext, type HTMLInputTypeAttribute } from 'preact';
import { useContext, useId, useRef } from 'preact/hooks';
import { messageOf } from '../api/problem.ts';
import { announce } from './announce.tsx';
import { fieldOf } from './field-problem.ts';

/** What a refused request says about one field. */
interface Refusal {
  readonly field: string | undefined;
  readonly message: string;
}

const FormRefusal = createContext<Refusal | undefined>(undefined);

export interface FormProps {
  /** Sends the request. What it throws is shown, and what was typed stays. When it gives `false`, nothing was changed. */
  readonly onSubmit: (data: FormData) => Promise<unknown>;
  /** What the button says. */
  readonly submit: string;
  /** Said when it has worked. */
  readonly done: string;
  /** Fields by codes of refusals, where the code does not name the field: `{ conflict: 'name' }`. */
  readonly codes?: Readonly<Record<string, string>>;
  /** Empties the fields after a success. */
  readonly reset?: boolean;
  readonly danger?: boolean;
  readonly onCancel?: () => void;
  /** The fields. */
  readonly children?: ComponentChildren;
}

/** A form of one request. */
export function Form({ onSubmit, submit, done, codes, reset, danger, onCancel, children }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const sending = useSignal(false);
  const refusal = useSignal<Refusal | undefined>(undefined);
  const worked = useSignal(false);

  async function send(event: SubmitEvent) {
    event.preventDefault();
    if (sending.value) return;
    sending.value = true;
    refusal.value = undefined;
    worked.value = false;
    const data = new FormData(form.current!);
    try {
      if ((await onSubmit(data)) === false) return;
      announce(done);
      worked.value = true;
      if (reset) form.current?.reset();
    } catch (error) {
      const field = fieldOf(error, namesOf(form.current), codes);
      refusal.value = { field, message: messageOf(error) };
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
      onInput={() => {
        worked.value = false;
      }}
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
          // biome-ignore lint/a11y/noAutofocus: of a dialog, so that a hasty Enter does nothing that cannot be undone
          <button type="button" autoFocus={danger ?? false} onClick={onCancel}>
            Cancel
          </button>
        )}
        {worked.value && <span class="form-done">{done}</span>}
      </p>
    </form>
  );
}

export interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** The control; by default a text input. It gets `id`, `name` and the `aria` properties. */
  readonly control?: (properties: ControlProperties) => ComponentChildren;
  readonly type?: HTMLInputTypeAttribute;
  readonly value?: string;
  readonly required?: boolean;
  readonly placeholder?: string;
  readonly autocomplete?: string;
  readonly maxLength?: number;
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

/** A labelled control with a hint and what the API has against its value. */
export function Field(props: FieldProps) {
  const { name, label, hint, control, type = 'text', value, required, autoFocus, ...more } = props;
  const id = useId();
  const refusal = useContext(FormRefusal);
  const refused = refusal?.field === name ? refusal.message : undefined;
  const described = [hint && `${id}-hint`, refused && `${id}-error`].filter(Boolean).join(' ');
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
      ) : (
        <input
          {...properties}
          {...more}
          type={type as 'text'}
          // biome-ignore lint/a11y/noAutofocus: a dialog's first field, which the reader has asked for
          autoFocus={autoFocus ?? false}
          {...(value === undefined ? {} : { defaultValue: value })}
        />
      )}
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
    </div>
  );
}

function namesOf(form: HTMLFormElement | null): string[] {
  return form === null ? [] : Array.from(new FormData(form).keys());
}

function focusField(form: HTMLFormElement | null, name: string): void {
  const control = form?.elements.namedItem(name);
  if (control instanceof HTMLElement) control.focus();
}
