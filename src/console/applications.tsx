import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ApplicationShown } from '../contract/shapes/application.ts';
import type { Page } from '../contract/shapes/fields.ts';
import { call, resource, withQuery } from './api/client.ts';
import { forget, usePoll } from './api/poll.ts';

export type { ApplicationShown };

/** The applications of the reader's teams, the oldest first; `undefined` until they are known. */
export const applications = signal<readonly ApplicationShown[] | undefined>(undefined);

/** Why they could not be read, if so. */
export const applicationsError = signal<unknown>(undefined);

const path = withQuery(resource('applications'), { limit: 200 });
const everyMs = 30_000;

/** Keeps `applications` current. */
export function ApplicationsReader() {
  const { data, error } = usePoll<Page<ApplicationShown>>(path, everyMs);
  useEffect(() => {
    applicationsError.value = data === undefined ? error : undefined;
    if (data === undefined) return undefined;
    const stopping = new AbortController();
    void readAll(data, stopping.signal).then(
      (all) => {
        applications.value = all;
      },
      () => undefined,
    );
    return () => stopping.abort();
  }, [data, error]);
  return null;
}

/** Reads them again, after a change. */
export function refreshApplications(): void {
  forget(resource('applications'));
}

async function readAll(first: Page<ApplicationShown>, signal: AbortSignal): Promise<ApplicationShown[]> {
  const all = [...first.items];
  let { nextCursor } = first;
  while (nextCursor !== null) {
    const page: Page<ApplicationShown> = await call(
      'GET',
      withQuery(resource('applications'), { limit: 200, cursor: nextCursor }),
      { signal },
    );
    all.push(...page.items);
    nextCursor = page.nextCursor;
  }
  return all;
}
