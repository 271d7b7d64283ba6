import { useQuery } from '../../address.ts';
import { CopyButton } from '../../parts/copy.tsx';
import { exampleFlag, type Snippet } from './snippets.ts';

interface SnippetViewProps {
  readonly snippets: readonly Snippet[];
  /** The key's text is not known here. */
  readonly incomplete: boolean;
}

/** A whole sender, for one language of several. */
export function SnippetView({ snippets, incomplete }: SnippetViewProps) {
  const { query, change } = useQuery();
  const shown = snippets.find(({ id }) => id === query['with']) ?? snippets[0]!;
  return (
    <>
      <p>
        It reports one check, one use and one view of the flag <code>{exampleFlag}</code>, and its variant{' '}
        <code>on</code>. An SDK sends the same, many at a time.
      </p>
      <fieldset class="connect-languages">
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
              Replace <code>YOUR_BACKEND_KEY</code> with the key: it is not known here any more.
            </p>
          )}
          <div class="connect-code">
            <p class="connect-bar">
              <span class="quiet">{shown.how}</span>
              <CopyButton text={shown.code} title={`Copy the sender for ${shown.label}`} />
            </p>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways must be in reach of the keys */}
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
