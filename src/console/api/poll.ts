import { computed, type Signal, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { currentTime } from '../clock.ts';
import { reachable, send } from './client.ts';
import { pauseAfter } from './pause.ts';
import { problemOf, Unreachable } from './problem.ts';

/** What a poll has so far. Whoever reads a part of it is drawn again when that part changes. */
export interface Polled<T> {
  /** `undefined` before the first answer. */
  readonly data: T | undefined;
  /** When the data was last known to be current, Unix ms of the server. */
  readonly at: number | undefined;
  /** Why the last attempt failed. */
  readonly error: unknown;
}

/** A path that is read for all who look at it. */
interface Reader {
  readonly data: Signal<unknown>;
  readonly at: Signal<number | undefined>;
  readonly error: Signal<unknown>;
  etag: string | null;
  /** The pauses that those who look want, ms. */
  readonly wanted: Set<{ readonly everyMs: number | undefined }>;
  timer: ReturnType<typeof setTimeout> | undefined;
  stopping: AbortController | undefined;
  failures: number;
}

/** Readers that none looks at are kept too, so that a page that is opened again shows something at once. */
const readers = new Map<string, Reader>();
const maxReaders = 60;

/** What is read more often than this moves while one looks. */
const liveMs = 10_000;
let lastAnswer: number | undefined;
const looked = signal<readonly Reader[]>([]);

/** How current the figures on the page are; `undefined` when it has none that move. */
export const liveness = computed(() => {
  const wanted = looked.value.filter((reader) => pauseOf(reader) <= liveMs);
  const live = wanted.filter(({ at }) => at.value !== undefined);
  // A range that moves on to its next bucket is another path. Without a network it has no answer yet, and is no less late.
  if (live.length === 0)
    return wanted.length === 0 || reachable.value || lastAnswer === undefined
      ? undefined
      : { since: lastAnswer, error: undefined };
  const late = live.find(({ error }) => error.value !== undefined);
  return { since: Math.min(...live.map(({ at }) => at.value!)), error: late?.error.value };
});

/**
 * Reads a path again and again while the page is visible, once for all who ask for it. Answers are conditional: what has
 * not changed is not sent again, and nothing is drawn. After failures it asks less often. A tab that becomes visible shows
 * what it had, and asks at once.
 * @param path as `resource` and `withQuery` make it; `undefined` reads nothing
 * @param everyMs pause between two requests; `undefined` reads once, and again when the path changes
 */
export function usePoll<T>(path: string | undefined, everyMs: number | undefined): Polled<T> {
  useEffect(() => {
    if (path === undefined) return undefined;
    const reader = readerOf(path);
    const own = { everyMs };
    reader.wanted.add(own);
    look();
    if (reader.stopping === undefined) void read(path, reader);
    return () => {
      reader.wanted.delete(own);
      if (reader.wanted.size === 0) stop(reader);
      look();
    };
  }, [path, everyMs]);
  const { data, at, error } = path === undefined ? nothing : readerOf(path);
  return {
    get data() {
      return data.value as T | undefined;
    },
    get at() {
      return at.value;
    },
    get error() {
      return error.value;
    },
  };
}

const nothing = newReader();

/** Forgets what was read of paths that begin so, after a change that makes it wrong. What is on the page is read again. */
export function forget(beginning: string): void {
  for (const [path, reader] of readers) {
    if (!path.startsWith(beginning)) continue;
    reader.etag = null;
    if (reader.wanted.size === 0) readers.delete(path);
    else restart(path, reader);
  }
}

function newReader(): Reader {
  return {
    data: signal(undefined),
    at: signal(undefined),
    error: signal(undefined),
    etag: null,
    wanted: new Set(),
    timer: undefined,
    stopping: undefined,
    failures: 0,
  };
}

function readerOf(path: string): Reader {
  const found = readers.get(path);
  if (found !== undefined) return found;
  const reader = newReader();
  readers.set(path, reader);
  const unused = Array.from(readers).find(([each, { wanted }]) => each !== path && wanted.size === 0);
  if (readers.size > maxReaders && unused !== undefined) readers.delete(unused[0]);
  return reader;
}

async function read(path: string, reader: Reader): Promise<void> {
  clearTimeout(reader.timer);
  if (document.hidden || reader.wanted.size === 0) return;
  const stopping = new AbortController();
  reader.stopping = stopping;
  try {
    await readOnce(path, reader, stopping.signal);
    reader.error.value = undefined;
    reader.failures = 0;
  } catch (error) {
    if (stopping.signal.aborted) return;
    reader.error.value = error;
    reader.failures += 1;
  }
  reader.stopping = undefined;
  const pause = pauseAfter(pauseOf(reader), reader.failures, reader.error.peek());
  if (pause !== undefined) reader.timer = setTimeout(() => void read(path, reader), pause);
}

async function readOnce(path: string, reader: Reader, signal: AbortSignal): Promise<void> {
  const headers = reader.etag === null ? {} : { 'if-none-match': reader.etag };
  const response = await send('GET', path, { headers, signal });
  if (response.status !== 304) {
    if (!response.ok) throw await problemOf(response);
    reader.data.value = await response.json().catch((error: unknown) => {
      throw new Unreachable('The answer was cut off', { cause: error });
    });
    reader.etag = response.headers.get('etag');
  }
  lastAnswer = currentTime();
  reader.at.value = lastAnswer;
}

function restart(path: string, reader: Reader): void {
  stop(reader);
  void read(path, reader);
}

function stop(reader: Reader): void {
  clearTimeout(reader.timer);
  reader.stopping?.abort();
  reader.stopping = undefined;
  reader.failures = 0;
}

function look(): void {
  looked.value = Array.from(readers.values()).filter(({ wanted }) => wanted.size > 0);
}

/** The shortest pause that one of those who look wants; `Infinity` when it is read once. */
function pauseOf({ wanted }: Reader): number {
  return Math.min(...Array.from(wanted, ({ everyMs }) => everyMs ?? Number.POSITIVE_INFINITY));
}

/** What is on the page is read as soon as the page is seen again, or the network is back. */
function wake(): void {
  for (const [path, reader] of readers)
    if (reader.wanted.size > 0 && reader.stopping === undefined && due(reader)) restart(path, reader);
}

/** What is read once only needs no other answer, unless it has none. */
function due(reader: Reader): boolean {
  if (reader.error.peek() !== undefined || reader.data.peek() === undefined) return true;
  return pauseOf(reader) < Number.POSITIVE_INFINITY;
}

document.addEventListener('visibilitychange', wake);
window.addEventListener('online', wake);
