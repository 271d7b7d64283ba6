import type { CleanupItem } from '../../../contract/shapes/cleanup.ts';
import { flagAddress, useQuery } from '../../address.ts';
import { format } from '../../format.ts';
import { CodePlaces } from '../../parts/code-places.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import type { InEnvironment } from '../../place.ts';
import { reasonText } from '../flag/verdict-words.ts';
import { whyGoes } from './words.ts';

interface ItemProps {
  readonly item: CleanupItem;
  readonly place: InEnvironment;
  readonly chosen: boolean;
  readonly onChoose: (chosen: boolean) => void;
}

/** A flag that can go: why, whose it is, where the code names it, and the text of a pull request. */
export function Item({ item, place, chosen, onChoose }: ItemProps) {
  const { query } = useQuery();
  const { feature, reasons, owners, ownersFrom, code, nextText, pullRequest, declared } = item;
  return (
    <article class="panel cleanup-item" aria-label={feature}>
      <header>
        <input
          type="checkbox"
          aria-label={`Select ${feature}`}
          checked={chosen}
          onChange={(event) => onChoose(event.currentTarget.checked)}
        />
        <h2>
          <a href={flagAddress({ ...place, name: feature }, query)}>{feature}</a>
        </h2>
        <span class="pill">{whyGoes(item, format)}</span>
        {!declared && <span class="pill warn">undeclared</span>}
      </header>
      <dl>
        <dt>Evidence</dt>
        <dd>
          <ul>
            {reasons.map((reason) => (
              <li key={reason.text}>{reasonText(reason, format)}</li>
            ))}
          </ul>
        </dd>
        <dt>Owner</dt>
        <dd>
          {owners.length === 0 ? 'none' : owners.map(({ name }) => name).join(', ')}
          {ownersFrom === 'codeowners' && <span class="quiet"> by CODEOWNERS</span>}
        </dd>
        <dt>Code</dt>
        <dd>
          {code.length === 0 ? (
            <span class="quiet">No code scan was uploaded.</span>
          ) : (
            <CodePlaces code={code} />
          )}
        </dd>
        <dt>Next step</dt>
        <dd>{nextText}</dd>
      </dl>
      <details>
        <summary>Pull-request text</summary>
        <p>
          <strong>{pullRequest.title}</strong> <CopyButton text={pullRequest.title} title="Copy the title" />
        </p>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it must be scrollable by keyboard */}
        <section tabIndex={0} aria-label={`Text for ${feature}`}>
          <pre>{pullRequest.body}</pre>
        </section>
        <CopyButton text={pullRequest.body} label="Copy text" />
      </details>
    </article>
  );
}
