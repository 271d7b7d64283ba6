import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { ActivityItem } from '../../../contract/shapes/activity.ts';
import { call, type Query, withQuery } from '../../api/client.ts';
import { usePoll } from '../../api/poll.ts';

interface Page {
  readonly items: readonly ActivityItem[];
  readonly nextCursor: string | null;
}

/** The loaded part of the feed. */
interface Feed {
  /** The latest first; `undefined` before the first page. */
  readonly items: readonly ActivityItem[] | undefined;
  readonly more: boolean;
  readonly loading: boolean;
  readonly error: unknown;
  next(): Promise<void>;
}

interface Loaded {
  /** By id. A later answer replaces an item, such as the end of refusals. */
  readonly items: ReadonlyMap<string, ActivityItem>;
  /** The cursor after the last page. */
  readonly cursor: string | null;
  readonly loading: boolean;
  readonly error: unknown;
}

const nothing: Loaded = { items: new Map(), cursor: null, loading: false, error: undefined };

/**
 * Reads the feed page by page, and the first page again and again.
 * @param span the range, which moves while the page is live: items of an earlier one stay
 */
export function useFeed(path: string, filters: Query, span: Query, everyMs: number | undefined): Feed {
  const key = withQuery(path, filters);
  const loaded = useSignal(nothing);
  const { data, error } = usePoll<Page>(withQuery(path, { ...filters, ...span, limit: 50 }), everyMs);

  useEffect(() => {
    loaded.value = nothing;
  }, [key, everyMs === undefined ? span : undefined]);

  useEffect(() => {
    if (data === undefined) return;
    const before = loaded.peek();
    const isFirst = before.items.size === 0;
    loaded.value = {
      ...before,
      items: added(before.items, data.items),
      cursor: isFirst ? data.nextCursor : before.cursor,
    };
  }, [data, key]);

  const { items, cursor, loading, error: failed } = loaded.value;
  return {
    items: useMemo(() => (data === undefined && items.size === 0 ? undefined : sorted(items)), [items, data]),
    more: cursor !== null,
    loading,
    error: error ?? failed,
    async next() {
      loaded.value = { ...loaded.peek(), loading: true, error: undefined };
      try {
        const page = await call<Page>('GET', path, {
          query: { ...filters, ...span, limit: 100, cursor: cursor! },
        });
        const all = added(loaded.peek().items, page.items);
        loaded.value = { items: all, cursor: page.nextCursor, loading: false, error: undefined };
      } catch (failure) {
        loaded.value = { ...loaded.peek(), loading: false, error: failure };
      }
    },
  };
}

function added(known: ReadonlyMap<string, ActivityItem>, items: readonly ActivityItem[]) {
  return new Map([...known, ...items.map((item) => [item.id, item] as const)]);
}

function sorted(items: ReadonlyMap<string, ActivityItem>): readonly ActivityItem[] {
  const position = ({ at, id }: ActivityItem) => `${at} ${id}`;
  return [...items.values()].sort((one, other) => (position(one) < position(other) ? 1 : -1));
}
