import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { send } from './client.ts';
import { problemOf, Unreachable } from './problem.ts';

/** The last answer of a path, kept so that a page that is opened again shows something at once. */
interface Kept {
  readonly etag: string | null;
  readonly data: unknown;
  /** When it came, Unix ms. */
  readonly at: number;
}

/** What a poll has so far. */
export interface Polled<T> {
  /** `undefined` before the first answer. */
  readonly data: T | undefined;
  /** When the data was last known to be current, Unix ms. */
  readonly at: number | undefined;
  /** Why the last attempt failed. */
  readonly error: unknown;
}

const kept = new Map<string, Kept>();
const maxKept = 60;
const maxPauseMs = 30_000;

/**
 * Reads a path again and again while the page is visible. Answers are conditional: what has not changed is not sent again.
 * After failures it asks less often. A tab that becomes visible asks at once.
 * @param path as `resource` and `withQuery` make it; `undefined` reads nothing
 * @param everyMs pause between two requests; `undefined` reads once, and again when the path changes
 */
export function usePoll<T>(path: string | undefined, everyMs: number | undefined): Polled<T> {
  const state = useSignal<Polled<T>>(shown(path));
  useEffect(() => {
    if (path === undefined) return undefined;
    state.value = shown(path);
    const stopping = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let failures = 0;
    let reading = false;

    async function read(): Promise<void> {
      clearTimeout(timer);
      if (reading || document.hidden) return;
      reading = true;
      try {
        const { data, at } = await readOnce(path!, stopping.signal);
        state.value = { data: data as T, at, error: undefined };
        failures = 0;
      } catch (error) {
        if (stopping.signal.aborted) return;
        state.value = { ...state.value, error };
        failures += 1;
      } finally {
        reading = false;
      }
      const again = everyMs ?? (failures > 0 ? 2000 : undefined);
      if (again !== undefined && !stopping.signal.aborted)
        timer = setTimeout(read, Math.min(maxPauseMs, again * 2 ** failures));
    }

    document.addEventListener('visibilitychange', read, { signal: stopping.signal });
    window.addEventListener('online', read, { signal: stopping.signal });
    void read();
    return () => {
      clearTimeout(timer);
      stopping.abort();
    };
  }, [path, everyMs]);
  return state.value;
}

/** Forgets what was read of paths that begin so, after a change that makes it wrong. */
export function forget(beginning: string): void {
  for (const path of kept.keys()) if (path.startsWith(beginning)) kept.delete(path);
}

function shown<T>(path: string | undefined): Polled<T> {
  const last = path === undefined ? undefined : kept.get(path);
  return { data: last?.data as T | undefined, at: last?.at, error: undefined };
}

async function readOnce(path: string, signal: AbortSignal): Promise<Kept> {
  const last = kept.get(path);
  const headers = last?.etag ? { 'if-none-match': last.etag } : {};
  const response = await send('GET', path, { headers, signal });
  const at = Date.now();
  if (response.status === 304 && last !== undefined) return keep(path, { ...last, at });
  if (!response.ok) throw await problemOf(response);
  const data = await response.json().catch((error: unknown) => {
    throw new Unreachable('The answer was cut off', { cause: error });
  });
  return keep(path, { etag: response.headers.get('etag'), data, at });
}

function keep(path: string, answer: Kept): Kept {
  kept.delete(path);
  kept.set(path, answer);
  const [oldest] = kept.keys();
  if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
  return answer;
}
