import { useQuery } from '../../address.ts';
import { CopyButton } from '../../parts/copy.tsx';
import { exampleFlag, type Snippet } from './snippets.ts';

interface SnippetViewProps {
  readonly snippets: readonly Snippet[];
  /** Whether the text of the key is unknown. */
  readonly incomplete: boolean;
}

/** A complete sender in the chosen language. */
export function SnippetView({ snippets, incomplete }: SnippetViewProps) {
  const { query, change } = useQuery();
  const shown = snippets.find(({ id }) => id === query['with']) ?? snippets[0]!;
  return (
    <>
      <p>
        It reports one check, one use and one view of the flag <code>{exampleFlag}</code> with its variant{' '}
        <code>on</code>. An SDK sends the same in batches.
      </p>
      <fieldset class="actions connect-languages">
        <legend class="hidden">Language</legend>
        {snippets.map(({ id, label }) => (
          <button key={id} type="button" aria-pressed={id === shown.id} onClick={() => change({ with: id })}>
            {label}
          </button>
        ))}
      </fieldset>
      {shown.why === undefined ? (
        <>
          {incomplete && (
            <p class="warn">
              Replace <code>YOUR_BACKEND_KEY</code> with the key, which is no longer known here.
            </p>
          )}
          <div class="connect-code">
            <p class="head spread connect-bar">
              <span class="quiet">{shown.how}</span>
              <CopyButton text={shown.code} title={`Copy the sender for ${shown.label}`} />
            </p>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it must be scrollable by keyboard */}
            <section class="connect-text" tabIndex={0} aria-label={`A sender for ${shown.label}`}>
              <pre>
                <code>{shown.code}</code>
              </pre>
            </section>
          </div>
        </>
      ) : (
        <p class="warn">{shown.why}</p>
      )}
    </>
  );
}
