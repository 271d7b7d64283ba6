import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { call, type Query, withQuery } from './client.ts';

/** What is loaded of a list that the API gives in pages. */
export interface List<T> {
  /** `undefined` before the first page. */
  readonly items: readonly T[] | undefined;
  /** Whether there are more pages. */
  readonly more: boolean;
  readonly loading: boolean;
  /** Why the last page did not come. What was loaded before stays. */
  readonly error: unknown;
  /** Loads the next page. */
  next(): Promise<void>;
  /** Reads what is loaded again, after a change. */
  reload(): Promise<void>;
}

interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

interface Loaded<T> {
  readonly items: readonly T[] | undefined;
  readonly cursor: string | null;
  readonly loading: boolean;
  readonly error: unknown;
}

/** What a list is read by: filters, and how many items a page has. */
type ListQuery = Query & { readonly limit?: number };

const maxPageSize = 200;
const nothing = { items: undefined, cursor: null, loading: true, error: undefined };

/** Reads a list page by page, each when it is asked for. @param path as `resource` makes it */
export function useList<T>(path: string, query: ListQuery = {}): List<T> {
  const { limit: pageSize = 50, ...filters } = query;
  const address = withQuery(path, query);
  const state = useSignal<Loaded<T>>(nothing);
  /** The one request that counts: another address, or a reload, ends the one before. */
  const current = useSignal(new AbortController());

  async function load(cursor: string | undefined, before: readonly T[], limit: number): Promise<void> {
    current.peek().abort();
    const stopping = new AbortController();
    current.value = stopping;
    const { signal } = stopping;
    state.value = { ...state.peek(), loading: true, error: undefined };
    try {
      const paging = { limit, ...(cursor === undefined ? {} : { cursor }) };
      const page = await call<Page<T>>('GET', path, { query: { ...filters, ...paging }, signal });
      const items = [...before, ...page.items];
      state.value = { items, cursor: page.nextCursor, loading: false, error: undefined };
    } catch (error) {
      if (!signal.aborted) state.value = { ...state.peek(), loading: false, error };
    }
  }

  useEffect(() => {
    state.value = nothing;
    void load(undefined, [], pageSize);
    return () => current.peek().abort();
  }, [address]);

  const { items, cursor, loading, error } = state.value;
  return {
    ...{ items, loading, error },
    more: cursor !== null,
    next: () => load(cursor ?? undefined, items ?? [], pageSize),
    reload: () => load(undefined, [], Math.min(maxPageSize, Math.max(pageSize, items?.length ?? 0))),
  };
}
