import type { ComponentChildren } from 'preact';
import { CopyButton } from './copy.tsx';
import { Dialog } from './dialog.tsx';

/** Something that was made, to be copied. */
export interface Shown {
  readonly title: string;
  /** Names and texts. */
  readonly values: readonly (readonly [label: string, text: string])[];
  /** Whether it is never shown again. */
  readonly once: boolean;
  /** What to do with it. */
  readonly note?: ComponentChildren;
}

export interface SecretProps extends Shown {
  readonly onDone: () => void;
}

/** Shows what was made. A secret stays until the reader says that it is kept. */
export function Secret({ title, values, once, note, onDone }: SecretProps) {
  return (
    <Dialog title={title} {...(once ? {} : { onClose: onDone })}>
      {once && (
        <p class="warn">This is the only time that it is shown. Store it where your secrets are kept.</p>
      )}
      {note && <p>{note}</p>}
      {values.map(([label, text]) => (
        <div key={label} class="copy-line">
          <span class="copy-line-label">{label}</span>
          <code>{text}</code>
          <CopyButton text={text} title={`Copy: ${label}`} />
        </div>
      ))}
      <p class="actions">
        <button type="button" class="primary" onClick={onDone}>
          {once ? 'I have stored it' : 'Done'}
        </button>
      </p>
    </Dialog>
  );
}
