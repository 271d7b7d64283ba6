import { computed, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { isTimeZone } from '../../contract/calendar.ts';
import { comparisons, presets, readDays } from './range.ts';

type QueryText = Readonly<Record<string, string>>;

/** Why a value of a parameter is ignored, such as "it is not a time"; `undefined` if it is used. */
type ParameterCheck = (value: string, query: QueryText) => string | undefined;
type ParameterChecks = Readonly<Record<string, ParameterCheck>>;

interface IgnoredParameter {
  readonly name: string;
  readonly value: string;
  readonly reason: string;
}

/** A registration for each component, of which several may declare the same. */
const registered = signal<readonly { readonly own: ParameterChecks }[]>([]);
const checks = computed<ParameterChecks>(() => Object.assign({}, ...registered.value.map(({ own }) => own)));

/** Declares how a component reads parameters of the address, while it is mounted. @param own the same object at each call */
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

/** Declares the order of a table, in the parameter `sort`. */
export function useOrder(columns: readonly { readonly key: string }[]): void {
  const keys = columns.map(({ key }) => key);
  useParameters(useMemo(() => ({ sort: allowOrder(keys) }), [keys.join()]));
}

function allowOrder(keys: readonly string[]): ParameterCheck {
  const known = allowOnly(keys);
  return (value, query) => known(value.replace(/^-/, ''), query);
}

const ofPreset = allowOnly([...Object.keys(presets), 'a day such as 2026-11-23']);

/** The parameters of a range. A fixed one needs both ends, and takes precedence over a relative one. */
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

/** The names that a page has read, by the query of its address. */
const read = new WeakMap<QueryText, Set<string>>();

/** A query that records the names that are read from it: no other parameter has an effect. */
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

/** The parameters of an address that have no effect. @param settled whether the page has read all that it uses */
export function ignoredIn(query: QueryText, settled: boolean): readonly IgnoredParameter[] {
  return Object.entries(query).flatMap(([name, value]): readonly IgnoredParameter[] => {
    const reason = checks.value[name]?.(value, query);
    if (reason !== undefined) return [{ name, value, reason }];
    // The range stays in the address from page to page, also on those without one.
    const isKept = name in rangeParameters;
    if (!settled || isKept || name in checks.value || read.get(query)?.has(name)) return [];
    return [{ name, value, reason: 'the page has no such parameter' }];
  });
}
