import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Application } from '../../contract/shapes/application.ts';
import { resource } from '../api/client.ts';
import { useWholeList } from '../api/list.ts';
import { forget } from '../api/poll.ts';

/** The applications of the reader's teams, the oldest first; `undefined` until they are known. */
export const applications = signal<readonly Application[] | undefined>(undefined);

/** Why reading them failed. */
export const applicationsError = signal<unknown>(undefined);

const path = resource('applications');
const everyMs = 30_000;

/** Keeps `applications` current. */
export function ApplicationsReader() {
  const { items, error } = useWholeList<Application>(path, {}, everyMs);
  useEffect(() => {
    applicationsError.value = items === undefined ? error : undefined;
    if (items !== undefined) applications.value = items;
  }, [items, error]);
  return null;
}

/** Reads them again after a change. */
export function refreshApplications(): void {
  forget(path);
}
