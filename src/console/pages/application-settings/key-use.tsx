import type { ApplicationKey } from '../../../contract/shapes/application-key.ts';
import { now } from '../../api/clock.ts';
import { Ago } from '../../components/table/columns.tsx';
import { format, plural } from '../../text/format.ts';

/** Time after its last use in which a key counts as in use, ms. */
const recentMs = 15 * 60_000;

/** Describes the most frequent reason for refusals of a key: `leaked`, `origin not allowed`. */
export function describeReason({ refused: { reasons } }: ApplicationKey): string {
  const code = reasons[0]?.code ?? '';
  // A packet with a known key is refused with this code only if the key is leaked.
  return code === 'unknown_key' ? 'leaked' : code.replaceAll('_', ' ');
}

/** Shows the refused messages of a key: `521, last 3 minutes ago: leaked`. */
export function Refusals({ of: key }: { readonly of: ApplicationKey }) {
  const { count, lastAt } = key.refused;
  if (count === 0) return <>–</>;
  return (
    <span>
      <strong class="bad">{format.full(count)}</strong>, last <Ago at={lastAt} />: {describeReason(key)}
    </span>
  );
}

export function LastUse({ of: key }: { readonly of: ApplicationKey }) {
  const { name, lastUsedAt, refused } = key;
  if (lastUsedAt === null && refused.count === 0) return <p>Nothing was ever sent with {name}.</p>;
  const isRecent = [lastUsedAt, refused.lastAt].some((at) => at !== null && now.value - Date.parse(at) < recentMs);
  return (
    <p class={isRecent ? 'warn' : undefined}>
      {lastUsedAt === null ? (
        `${name} was never accepted`
      ) : (
        <>
          {name} was last accepted <Ago at={lastUsedAt} />
        </>
      )}
      {refused.count > 0 && (
        <>
          {lastUsedAt === null ? ', but ' : ', and '}
          {plural(refused.count, 'message')} with this key {refused.count === 1 ? 'was' : 'were'} refused (
          {describeReason(key)}), the last one <Ago at={refused.lastAt} />
        </>
      )}
      .{isRecent && ' A sender still uses the key.'}
    </p>
  );
}
