import { useSignal } from '@preact/signals';
import { useCallback, useEffect } from 'preact/hooks';
import type { MetricShown } from '../../../contract/shapes/metric.ts';
import { call, resource } from '../../api/client.ts';
import { pauseAfter } from '../../api/pause.ts';

interface Page {
  readonly items: readonly MetricShown[];
  readonly nextCursor: string | null;
}

/** The metrics that an application declares: all pages of the list. A failed reading is repeated. */
export function useDeclarations(app: string) {
  const items = useSignal<readonly MetricShown[] | undefined>(undefined);
  const error = useSignal<unknown>(undefined);
  const read = useCallback(
    async (aborted?: AbortSignal) => {
      try {
        const all = await readAll(app, aborted);
        items.value = all;
        error.value = undefined;
      } catch (caught) {
        if (!aborted?.aborted) error.value = caught;
      }
    },
    [app],
  );
  useEffect(() => {
    const stopping = new AbortController();
    items.value = undefined;
    void read(stopping.signal);
    return () => stopping.abort();
  }, [read]);
  const failure = error.value;
  useEffect(() => {
    const pause = failure === undefined ? undefined : pauseAfter(Number.POSITIVE_INFINITY, 1, failure);
    if (pause === undefined) return undefined;
    const stopping = new AbortController();
    const timer = setTimeout(() => void read(stopping.signal), pause);
    return () => {
      clearTimeout(timer);
      stopping.abort();
    };
  }, [read, failure]);
  return { items: items.value, error: failure, read };
}

async function readAll(app: string, signal?: AbortSignal): Promise<MetricShown[]> {
  const all: MetricShown[] = [];
  let cursor: string | undefined;
  do {
    const query = { declared: true, limit: 200, cursor };
    const page: Page = await call('GET', resource('applications', app, 'metrics'), {
      query,
      ...(signal && { signal }),
    });
    all.push(...page.items);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return all;
}
