import { computed, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { isTimeZone } from '../../contract/calendar.ts';
import { comparisons, presets, readDays } from './range.ts';

type QueryText = Readonly<Record<string, string>>;

/** Returns why a parameter value is ignored, such as "it is not a time"; `undefined` if the value is used. */
type ParameterCheck = (value: string, query: QueryText) => string | undefined;
type ParameterChecks = Readonly<Record<string, ParameterCheck>>;

interface IgnoredParameter {
  readonly name: string;
  readonly value: string;
  readonly reason: string;
}

/** One entry per mounted component. Several components can declare the same parameters. */
const registered = signal<readonly { readonly own: ParameterChecks }[]>([]);
const checks = computed<ParameterChecks>(() => Object.assign({}, ...registered.value.map(({ own }) => own)));

/** Declares the query parameters of a component while it is mounted. @param own the same object at each call */
export function useParameters(own: ParameterChecks): void {
  useEffect(() => {
    const entry = { own };
    registered.value = [...registered.value, entry];
    return () => {
      registered.value = registered.value.filter((each) => each !== entry);
    };
  }, [own]);
}

export function allowOnly(values: readonly string[]): ParameterCheck {
  return (value) => (values.includes(value) ? undefined : `it is not one of ${values.join(', ')}`);
}

/** Declares the parameter `sort`, the order of a table. */
export function useOrder(columns: readonly { readonly key: string }[]): void {
  const keys = columns.map(({ key }) => key);
  useParameters(useMemo(() => ({ sort: allowOrder(keys) }), [keys.join()]));
}

function allowOrder(keys: readonly string[]): ParameterCheck {
  const known = allowOnly(keys);
  return (value, query) => known(value.replace(/^-/, ''), query);
}

const ofPreset = allowOnly([...Object.keys(presets), 'a day such as 2026-11-23']);

/** The parameters of a range. A fixed range needs both ends, and takes precedence over a relative range. */
export const rangeParameters: ParameterChecks = {
  range: (value, query) => (readDays(value) === undefined ? ofPreset(value, query) : undefined),
  from: (value, { to }) => checkEnd(value, to, 'to') ?? checkOrder(value, to),
  to: (value, { from }) => checkEnd(value, from, 'from') ?? checkOrder(from, value),
  tz: (value) => (isTimeZone(value) ? undefined : 'it is not a time zone such as Europe/Berlin'),
  compare: allowOnly(Object.keys(comparisons)),
};

function checkEnd(value: string, other: string | undefined, name: string): string | undefined {
  if (Number.isNaN(Date.parse(value))) return 'it is not a time such as 2026-11-23T12:00:00Z';
  return other === undefined ? `a fixed range needs "${name}", too` : undefined;
}

function checkOrder(from = '', to = ''): string | undefined {
  return Date.parse(from) >= Date.parse(to) ? 'the range ends before it starts' : undefined;
}

/** Names of the parameters that a page has read, by the query of its address. */
const read = new WeakMap<QueryText, Set<string>>();

/** Returns a query that records the names of the parameters read from it. Parameters that are not read are ignored. */
export function recorded(query: QueryText): Record<string, string> {
  const names = read.get(query) ?? new Set<string>();
  read.set(query, names);
  return new Proxy(query as Record<string, string>, {
    get(target, name: string) {
      names.add(name);
      return target[name];
    },
  });
}

/**
 * Returns the ignored parameters of an address, with the reasons.
 * @param settled true once the page has read all its parameters
 */
export function ignoredIn(query: QueryText, settled: boolean): readonly IgnoredParameter[] {
  return Object.entries(query).flatMap(([name, value]): readonly IgnoredParameter[] => {
    const reason = checks.value[name]?.(value, query);
    if (reason !== undefined) return [{ name, value, reason }];
    // The range stays in the address of every page, even if the page does not use it.
    const isKept = name in rangeParameters;
    if (!settled || isKept || name in checks.value || read.get(query)?.has(name)) return [];
    return [{ name, value, reason: 'the page has no such parameter' }];
  });
}
