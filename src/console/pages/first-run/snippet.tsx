import { CopyButton } from '../../parts/copy.tsx';
import { exampleFlag, type Lines, type Target } from './snippets.ts';

interface ChooseTargetProps {
  readonly targets: readonly Target[];
  readonly chosen: Target;
  readonly onChoose: (id: string) => void;
}

/** The languages of a sender. */
export function ChooseTarget({ targets, chosen, onChoose }: ChooseTargetProps) {
  return (
    <fieldset class="actions connect-languages">
      <legend class="hidden">Language</legend>
      {targets.map(({ id, label }) => (
        <button key={id} type="button" aria-pressed={id === chosen.id} onClick={() => onChoose(id)}>
          {label}
        </button>
      ))}
    </fieldset>
  );
}

interface LinesViewProps {
  readonly label: string;
  readonly lines: Lines;
  /** Whether the text of the key is unknown. */
  readonly incomplete: boolean;
}

/** The lines of a sender, to copy. */
export function LinesView({ label, lines: { code, how, reports }, incomplete }: LinesViewProps) {
  return (
    <>
      <p>
        It reports {reports} of the flag <code>{exampleFlag}</code> with its variant <code>on</code>. An SDK
        sends the same in batches.
      </p>
      {incomplete && (
        <p class="warn">
          Replace <code>YOUR_BACKEND_KEY</code> with the key, which is no longer known here.
        </p>
      )}
      <div class="connect-code">
        <p class="head spread connect-bar">
          <span class="quiet">{how}</span>
          <CopyButton text={code} title={`Copy the sender for ${label}`} />
        </p>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it must be scrollable by keyboard */}
        <section class="connect-text" tabIndex={0} aria-label={`A sender for ${label}`}>
          <pre>
            <code>{code}</code>
          </pre>
        </section>
      </div>
    </>
  );
}
