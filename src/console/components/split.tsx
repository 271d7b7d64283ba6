import type { FeatureSplit } from '../../contract/shapes/split.ts';
import { format } from '../text/format.ts';

const states = { ok: 'as intended', off: 'off', unknown: 'too little data' } as const;

export function Split({ split }: { readonly split: FeatureSplit | undefined }) {
  if (split === undefined || Object.keys(split.intended).length === 0) return <span class="quiet">–</span>;
  return (
    <span class={split.state === 'off' ? 'pill warn' : 'pill'} title={splitTitle(split)}>
      {splitWords(split)}
    </span>
  );
}

export function splitWords({ state, actual }: FeatureSplit): string {
  return state === 'unknown' && actual === null ? 'no data' : states[state];
}

export function splitTitle({ intended, actual, of, text, state }: FeatureSplit): string {
  if (text !== null) return text;
  if (actual === null) return `Intended: ${sharesText(intended)}`;
  const doubt = state === 'unknown' ? ' (too little data)' : '';
  return `Intended: ${sharesText(intended)}; actual share of ${of}: ${sharesText(actual)}${doubt}`;
}

/** Shares by variant: `on 50%, off 50%`. */
export function sharesText(shares: Readonly<Record<string, number>>): string {
  return format.list(Object.entries(shares).map(([variant, share]) => `${variant} ${format.percent(share)}`));
}
