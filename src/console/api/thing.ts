import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { send } from './client.ts';
import { ApiProblem, problemOf, Unreachable } from './problem.ts';

/** What a change gives of a thing as it is now. It is made again when someone else has changed the thing meanwhile. */
export type Change<T> = (now: T) => Readonly<Record<string, unknown>>;

/** Someone else has changed a thing since it was read. */
export interface Conflict<T> {
  /** As it was when this page read it. */
  readonly before: T;
  /** As it is now. */
  readonly theirs: T;
  /** What this page wanted to set. */
  readonly mine: Readonly<Record<string, unknown>>;
  /** Makes the change to what it is now, or gives it up. */
  readonly decide: (choice: 'mine' | 'theirs') => void;
}

/** One thing of the API, and how to change it. */
export interface Thing<T> {
  /** `undefined` before it is read. */
  readonly data: T | undefined;
  readonly error: unknown;
  /** Counts how often what is shown was replaced by what others have made of it: a form starts anew then. */
  readonly version: number;
  readonly conflict: Conflict<T> | undefined;
  reload(): Promise<void>;
  /**
   * Changes it (`PATCH` with `If-Match`). When someone else was faster it waits for the reader's decision.
   * @returns whether the change was made: not when the reader has taken what others made of it
   * @throws {ApiProblem} when the API refuses
   * @throws {Unreachable} when there is no answer
   */
  change(change: Change<T>, extra?: Readonly<Record<string, unknown>>): Promise<boolean>;
}

interface Tagged<T> {
  readonly data: T;
  readonly etag: string;
}

/** Reads a thing, and changes it only from what the reader has seen. @param path as `resource` makes it */
export function useThing<T>(path: string | undefined): Thing<T> {
  const seen = useSignal<Tagged<T> | undefined>(undefined);
  const error = useSignal<unknown>(undefined);
  const version = useSignal(0);
  const conflict = useSignal<Conflict<T> | undefined>(undefined);

  async function reload(signal?: AbortSignal): Promise<void> {
    if (path === undefined) return;
    try {
      seen.value = await read<T>('GET', path, {}, signal);
      error.value = undefined;
    } catch (failure) {
      if (!signal?.aborted) error.value = failure;
    }
  }

  useEffect(() => {
    const stopping = new AbortController();
    seen.value = undefined;
    void reload(stopping.signal);
    return () => stopping.abort();
  }, [path]);

  async function change(make: Change<T>, extra = {}): Promise<boolean> {
    for (let before = seen.peek()!; ; ) {
      const mine = make(before.data);
      try {
        seen.value = await patch(path!, { ...mine, ...extra }, before.etag);
        return true;
      } catch (failure) {
        if (!(failure instanceof ApiProblem && failure.status === 412)) throw failure;
      }
      const theirs = await read<T>('GET', path!);
      const choice = await new Promise<'mine' | 'theirs'>((decide) => {
        conflict.value = { before: before.data, theirs: theirs.data, mine, decide };
      });
      conflict.value = undefined;
      before = theirs;
      if (choice === 'mine') continue;
      seen.value = theirs;
      version.value += 1;
      return false;
    }
  }

  return {
    data: seen.value?.data,
    error: error.value,
    version: version.value,
    conflict: conflict.value,
    reload: () => reload(),
    change,
  };

  function patch(target: string, body: object, etag: string): Promise<Tagged<T>> {
    return read<T>('PATCH', target, { body, headers: { 'if-match': etag } });
  }
}

async function read<T>(
  method: string,
  path: string,
  options: { body?: object; headers?: Readonly<Record<string, string>> } = {},
  signal?: AbortSignal,
): Promise<Tagged<T>> {
  const response = await send(method, path, { ...options, ...(signal && { signal }) });
  if (!response.ok) throw await problemOf(response);
  const data = await response.json().catch((cause: unknown) => {
    throw new Unreachable('The answer was cut off', { cause });
  });
  return { data, etag: response.headers.get('etag') ?? '*' };
}
