/** Where a name stands in a text, and how. */
export interface Occurrence {
  readonly name: string;
  /** Of its first character. */
  readonly index: number;
  /** `call`: it is the first argument of a call that asks for a feature. */
  readonly as: 'call' | 'quoted' | 'word';
}

/** Functions of SDKs that ask for the feature that is their first argument. `--call` adds others. */
export const usualCalls = [
  ...['isEnabled', 'is_enabled', 'IsEnabled', 'isFeatureEnabled', 'is_feature_enabled', 'IsFeatureEnabled'],
  ...['isActive', 'getVariant', 'get_variant', 'GetVariant', 'variation', 'boolVariation', 'stringVariation'],
  ...['useFlag', 'useFeature', 'useFeatureFlag', 'useVariant', 'hasFeature', 'feature', 'featureFlag'],
  ...['getBooleanValue', 'get_boolean_value', 'getStringValue', 'get_string_value'],
];

/** An escaped quote begins no text: so each line has at most one beginning of each kind without an end, and is read once for it. */
const quoted = /(?<!\\)(["'`])((?:\\.|(?!\1)[^\\\r\n])*)\1/g;
const word = /[\p{L}\p{N}_$-]+(?:[.:/][\p{L}\p{N}_$-]+)*/gu;

/** The end of a call's head, with its type arguments. */
const callHead = /([\p{L}\p{N}_$]+)\s*(?:<[^<>()]{0,60}>)?\s*\(\s*$/u;

/** Characters before a quoted text in which the head of its call is looked for. */
const headLength = 120;

const maxBytes = 256;

/**
 * Finds known names in a text, as words or quoted, and what calls ask for, known or not. It does not parse: it works for any language
 * that quotes texts, and what stands in a comment counts too.
 */
export function* namesIn(
  text: string,
  known: ReadonlySet<string>,
  calls: ReadonlySet<string>,
): Generator<Occurrence> {
  for (const match of text.matchAll(quoted)) {
    const [, , name = ''] = match;
    const index = match.index + 1;
    if (callBefore(text, match.index, calls) && isPlain(name)) yield { name, index, as: 'call' };
    else if (known.has(name)) yield { name, index, as: 'quoted' };
  }
  for (const { 0: whole, index } of text.matchAll(word)) {
    if (known.has(whole)) yield { name: whole, index, as: 'word' };
    else yield* partsOf(whole, index, known);
  }
}

/** `flags.checkout` names `checkout`. */
function* partsOf(whole: string, start: number, known: ReadonlySet<string>): Generator<Occurrence> {
  const parts = whole.split(/[.:/]/);
  if (parts.length === 1) return;
  let index = start;
  for (const name of parts) {
    if (known.has(name)) yield { name, index, as: 'word' };
    index += name.length + 1;
  }
}

function callBefore(text: string, at: number, calls: ReadonlySet<string>): boolean {
  const [, name] = callHead.exec(text.slice(Math.max(0, at - headLength), at)) ?? [];
  return name !== undefined && calls.has(name);
}

/** Whether a quoted text is a name as it stands: not with an escape or a placeholder in it. */
function isPlain(name: string): boolean {
  return name !== '' && Buffer.byteLength(name) <= maxBytes && !/[\\\p{Cc}]|\$\{|\{\{/u.test(name);
}
