import type { ComponentChildren } from 'preact';
import { CopyButton } from './copy.tsx';
import { Dialog } from './dialog.tsx';

export interface CopyLineProps {
  readonly label: string;
  readonly text: string;
}

/** A text to be copied, with what it is. */
export function CopyLine({ label, text }: CopyLineProps) {
  return (
    <div class="copy-line">
      <span class="copy-line-label">{label}</span>
      <code>{text}</code>
      <CopyButton text={text} title={`Copy: ${label}`} />
    </div>
  );
}

export interface SecretProps {
  readonly title: string;
  /** Names and texts. */
  readonly values: readonly (readonly [label: string, text: string])[];
  /** What the button says that closes it. */
  readonly confirm?: string;
  readonly onDone: () => void;
  /** What to do with it. */
  readonly children: ComponentChildren;
}

/** Shows a secret that is never shown again: it stays until the reader says that it is kept. */
export function Secret({ title, values, confirm = 'I have stored it', onDone, children }: SecretProps) {
  return (
    <Dialog title={title}>
      {children}
      {values.map(([label, text]) => (
        <CopyLine key={label} label={label} text={text} />
      ))}
      <p class="actions">
        <button type="button" class="primary" onClick={onDone}>
          {confirm}
        </button>
      </p>
    </Dialog>
  );
}
