import type { FeatureSplit } from '../../../contract/shapes/split.ts';
import { withQuery } from '../../api/client.ts';
import { usePoll } from '../../api/poll.ts';
import { splitTitle } from '../../components/split.tsx';
import { type FeaturePlace, featurePath } from './change.tsx';

const everyMs = 20_000;

/** Returns the split of the flag; `undefined` if it is not loaded yet, or if the flag has no intended split. */
export function useSplit(place: FeaturePlace): FeatureSplit | undefined {
  const { environment } = place;
  const path = featurePath(place, 'split');
  const { data } = usePoll<FeatureSplit>(path && withQuery(path, { environment }), everyMs);
  return data !== undefined && Object.keys(data.intended).length > 0 ? data : undefined;
}

export function SplitChip({ place }: { readonly place: FeaturePlace }) {
  const split = useSplit(place);
  if (split === undefined) return null;
  const [off = 'split is off'] = split.text?.split(':') ?? [];
  const words = { ok: 'split as intended', off, unknown: 'split not measured yet' };
  return (
    <span class={split.state === 'off' ? 'pill warn' : 'pill'} title={splitTitle(split)}>
      {words[split.state]}
    </span>
  );
}

function upperFirst(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

export function SplitReason({ place }: { readonly place: FeaturePlace }) {
  const split = useSplit(place);
  if (split === undefined || split.state === 'unknown') return null;
  return <li>{upperFirst(splitTitle(split))}.</li>;
}
