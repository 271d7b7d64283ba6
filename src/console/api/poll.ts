import { computed, type Signal, signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { reachable, readBody, send } from './client.ts';
import { currentTime } from './clock.ts';
import { pauseAfter } from './problem.ts';

/** The state of a poll. A component that reads one of its fields is rendered when that field changes. */
interface PollState<T> {
  readonly data: T | undefined;
  /** Entity tag of `data`, for `If-Match` in a change; `undefined` if the resource has no tag. */
  readonly etag: string | undefined;
  /** Time of the last successful request, Unix ms of the server. */
  readonly at: number | undefined;
  readonly error: unknown;
}

/** A path whose data all components share. */
interface Reader {
  readonly data: Signal<unknown>;
  readonly at: Signal<number | undefined>;
  readonly error: Signal<unknown>;
  etag: string | undefined;
  /** True if a change has invalidated `data`. */
  isForgotten: boolean;
  /** Pauses between requests, as requested by components, ms. */
  readonly wanted: Set<{ readonly everyMs: number | undefined }>;
  timer: ReturnType<typeof setTimeout> | undefined;
  stopping: AbortController | undefined;
  failures: number;
}

/** All readers by path. Unused readers stay, so that a page that is opened again shows their data immediately. */
const readers = new Map<string, Reader>();
const maxReaders = 60;

/** Data that is read at least this often counts as live, ms. */
const liveMs = 10_000;
let lastResponseAt: number | undefined;
const looked = signal<readonly Reader[]>([]);

/** Time of the oldest live figures on the page; `undefined` if the page has no live figures. */
export const liveness = computed(() => {
  const wanted = looked.value.filter((reader) => computePause(reader) <= liveMs);
  const live = wanted.filter(({ at }) => at.value !== undefined);
  // A new bucket changes the path of a range. If the server is unreachable, the time of the last response is used.
  if (live.length === 0)
    return wanted.length === 0 || reachable.value || lastResponseAt === undefined
      ? undefined
      : { since: lastResponseAt, error: undefined };
  const late = live.find(({ error }) => error.value !== undefined);
  return { since: Math.min(...live.map(({ at }) => at.value!)), error: late?.error.value };
});

/**
 * Polls a path while the page is visible, with one request for all components. Requests are conditional: unchanged data
 * is neither sent nor rendered again. Pauses grow after failures. A tab that becomes visible shows the old data, and
 * sends a request immediately.
 * @param path from `resource` and `withQuery`; `undefined` sends no requests
 * @param everyMs pause between two requests; `undefined` reads each path once
 */
export function usePoll<T>(path: string | undefined, everyMs: number | undefined): PollState<T> {
  // A layout effect sends the request before the first paint, which can take longer than the response.
  useLayoutEffect(() => {
    if (path === undefined) return undefined;
    const reader = getReader(path);
    const own = { everyMs };
    reader.wanted.add(own);
    updateLooked();
    if (reader.stopping === undefined) void read(path, reader);
    return () => {
      reader.wanted.delete(own);
      if (reader.wanted.size === 0) stop(reader);
      updateLooked();
    };
  }, [path, everyMs]);
  const reader = path === undefined ? nothing : getReader(path);
  const { data, at, error } = reader;
  return {
    get data() {
      return data.value as T | undefined;
    },
    get etag() {
      return reader.etag;
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

/** Invalidates all paths with a prefix, after a change. Paths that the page shows are read again. */
export function forget(prefix: string): void {
  for (const [path, reader] of readers) {
    if (!path.startsWith(prefix)) continue;
    reader.isForgotten = true;
    if (reader.wanted.size === 0) readers.delete(path);
    else restart(path, reader);
  }
}

function newReader(): Reader {
  return {
    data: signal(undefined),
    at: signal(undefined),
    error: signal(undefined),
    etag: undefined,
    isForgotten: false,
    wanted: new Set(),
    timer: undefined,
    stopping: undefined,
    failures: 0,
  };
}

function getReader(path: string): Reader {
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
  const pause = pauseAfter(computePause(reader), reader.failures, reader.error.peek());
  if (pause !== undefined) reader.timer = setTimeout(() => void read(path, reader), pause);
}

async function readOnce(path: string, reader: Reader, signal: AbortSignal): Promise<void> {
  const headers = reader.etag === undefined || reader.isForgotten ? {} : { 'if-none-match': reader.etag };
  const response = await send('GET', path, { headers, signal });
  if (response.status !== 304) {
    const body = await readBody(response);
    reader.etag = response.headers.get('etag') ?? undefined;
    reader.data.value = body;
  }
  reader.isForgotten = false;
  lastResponseAt = currentTime();
  reader.at.value = lastResponseAt;
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

function updateLooked(): void {
  looked.value = Array.from(readers.values()).filter(({ wanted }) => wanted.size > 0);
}

/** Returns the shortest requested pause; `Infinity` for a path that is read once. */
function computePause({ wanted }: Reader): number {
  return Math.min(...Array.from(wanted, ({ everyMs }) => everyMs ?? Number.POSITIVE_INFINITY));
}

/** Reads all due paths of the page when the page becomes visible, or when the network is back. */
function wake(): void {
  for (const [path, reader] of readers)
    if (reader.wanted.size > 0 && reader.stopping === undefined && due(reader)) restart(path, reader);
}

/** True if a path must be read now. A path that is read once is due until a request succeeds. */
function due(reader: Reader): boolean {
  if (reader.error.peek() !== undefined || reader.data.peek() === undefined) return true;
  return computePause(reader) < Number.POSITIVE_INFINITY;
}

document.addEventListener('visibilitychange', wake);
window.addEventListener('online', wake);
