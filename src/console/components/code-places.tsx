import type { FeatureCode } from '../../contract/shapes/code-scan.ts';
import { format } from '../text/format.ts';

export function CodePlaces({ code }: { readonly code: readonly FeatureCode[] }) {
  return (
    <>
      {code.map((each) => (
        <div key={each.repository} class="code-places">
          <p>
            <strong>{each.repository}</strong> <span class="quiet">{scanText(each)}</span>
          </p>
          {each.count === 0 ? (
            <p>{missingText(each)}</p>
          ) : (
            <ul class="plain-list">
              {each.references.map(({ path, line, owners, url }) => (
                <li key={`${path}:${line}`}>
                  <PlaceLink text={`${path}:${line}`} url={url} />{' '}
                  {owners.length > 0 && <span class="quiet">{owners.join(', ')}</span>}
                </li>
              ))}
              {each.count > each.references.length && (
                <li class="quiet">{format.full(each.count - each.references.length)} more</li>
              )}
            </ul>
          )}
        </div>
      ))}
    </>
  );
}

function scanText({ revision, scannedAt }: FeatureCode): string {
  const at = revision === null ? '' : `at ${revision.slice(0, 12)}, `;
  return `${at}scanned ${format.time(scannedAt)}`;
}

function missingText({ missingSince, scannedAt }: FeatureCode): string {
  return missingSince === null
    ? `Not found in the scan of ${format.time(scannedAt)}.`
    : `Not found in the code since the scan of ${format.time(missingSince)}.`;
}

/** Shows a place in the code, as a link if it has a web address. */
function PlaceLink({ text, url }: { readonly text: string; readonly url: string | null }) {
  if (url === null || !/^https?:\/\//i.test(url)) return <code>{text}</code>;
  return (
    <a href={url} target="_blank" rel="noopener noreferrer">
      <code>{text}</code>
    </a>
  );
}
