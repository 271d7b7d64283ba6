import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect } from 'preact/hooks';
import { call, type Query, withQuery } from './client.ts';
import { forget, usePoll } from './poll.ts';
import { pauseAfter } from './problem.ts';

export interface List<T> {
  readonly items: readonly T[] | undefined;
  readonly more: boolean;
  readonly loading: boolean;
  /** Reason why the latest page could not be loaded. Items that were loaded before stay. */
  readonly error: unknown;
  next(): Promise<void>;
  reload(): Promise<void>;
}

interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

type ListState<T> = Pick<List<T>, 'items' | 'loading' | 'error'> & { readonly cursor: string | null };

type ListQuery = Query & { readonly limit?: number };

const maxPageSize = 200;
const nothing = { items: undefined, cursor: null, loading: true, error: undefined };

/** Reads a list page by page; each page on request. @param path from `resource` */
export function useList<T>(path: string, query: ListQuery = {}): List<T> {
  const { limit: pageSize = 50, ...filters } = query;
  const address = withQuery(path, query);
  const state = useSignal<ListState<T>>(nothing);
  /** Aborts the current request when the path changes or the list is reloaded. */
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
    items,
    loading,
    error,
    more: cursor !== null,
    next: () => load(cursor ?? undefined, items ?? [], pageSize),
    reload: () => load(undefined, [], Math.min(maxPageSize, Math.max(pageSize, items?.length ?? 0))),
  };
}

/**
 * Reads all pages of a list, and reads them again after `forget(path)`. Repeats a failed request.
 * @param everyMs pause between requests for the first page; `undefined` reads it once
 */
export function useWholeList<T>(path: string, query: Query, everyMs?: number) {
  const first = withQuery(path, { ...query, limit: maxPageSize });
  const { data, error } = usePoll<Page<T>>(first, everyMs);
  const items = useSignal<readonly T[] | undefined>(undefined);
  const failure = useSignal<unknown>(undefined);
  useLayoutEffect(() => {
    items.value = undefined;
  }, [first]);
  useLayoutEffect(() => {
    if (data === undefined) return undefined;
    const stopping = new AbortController();
    const { signal } = stopping;
    let timer: ReturnType<typeof setTimeout> | undefined;
    readRest(path, query, data, signal).then(
      (all) => {
        items.value = all;
        failure.value = undefined;
      },
      (caught) => {
        if (signal.aborted) return;
        failure.value = caught;
        const pause = pauseAfter(everyMs ?? Number.POSITIVE_INFINITY, 1, caught);
        if (pause !== undefined) timer = setTimeout(forget, pause, first);
      },
    );
    return () => {
      stopping.abort();
      clearTimeout(timer);
    };
  }, [data]);
  return { items: items.value, error: data === undefined ? error : failure.value };
}

async function readRest<T>(path: string, query: Query, first: Page<T>, signal: AbortSignal): Promise<T[]> {
  const all = [...first.items];
  for (let { nextCursor } = first; nextCursor !== null; ) {
    const paging = { limit: maxPageSize, cursor: nextCursor };
    const page: Page<T> = await call('GET', path, { query: { ...query, ...paging }, signal });
    all.push(...page.items);
    nextCursor = page.nextCursor;
  }
  return all;
}
