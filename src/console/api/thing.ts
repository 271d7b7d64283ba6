import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { bodyOf, type CallOptions, send } from './client.ts';
import { ApiProblem } from './problem.ts';

/** Computes the fields to set from the current ones. Called again if someone else has changed the thing meanwhile. */
export type Change<T> = (now: T) => Readonly<Record<string, unknown>>;

/** A change of the reader that someone else's change has overtaken. */
export interface Conflict<T> {
  /** As this page read it. */
  readonly before: T;
  readonly theirs: T;
  /** The fields that this page sets. */
  readonly mine: Readonly<Record<string, unknown>>;
  /** Applies the change to the current thing, or drops it. */
  readonly decide: (choice: 'mine' | 'theirs') => void;
}

/** A resource of the API that the reader can change. */
export interface Thing<T> {
  /** `undefined` until it has been read. */
  readonly data: T | undefined;
  readonly error: unknown;
  /** Incremented when the reader accepts someone else's change: forms use it as their key, and start over. */
  readonly version: number;
  readonly conflict: Conflict<T> | undefined;
  reload(): Promise<void>;
  /**
   * Changes it (`PATCH` with `If-Match`). After a conflict, waits for the reader's decision.
   * @returns false if the reader accepted someone else's change instead
   * @throws as `call`
   */
  change(change: Change<T>, extra?: Readonly<Record<string, unknown>>): Promise<boolean>;
}

interface Tagged<T> {
  readonly data: T;
  readonly etag: string;
}

/** Reads a resource, and changes only the version that the reader has seen. @param path from `resource` */
export function useThing<T>(path: string): Thing<T> {
  const seen = useSignal<Tagged<T> | undefined>(undefined);
  const error = useSignal<unknown>(undefined);
  const version = useSignal(0);
  const conflict = useSignal<Conflict<T> | undefined>(undefined);

  async function reload(signal?: AbortSignal): Promise<void> {
    try {
      seen.value = await read<T>('GET', path, signal && { signal });
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
        const body = { ...mine, ...extra };
        seen.value = await read<T>('PATCH', path, { body, headers: { 'if-match': before.etag } });
        return true;
      } catch (failure) {
        if (!(failure instanceof ApiProblem && failure.status === 412)) throw failure;
      }
      const theirs = await read<T>('GET', path);
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
}

async function read<T>(method: string, path: string, options?: CallOptions): Promise<Tagged<T>> {
  const response = await send(method, path, options);
  return { data: await bodyOf(response), etag: response.headers.get('etag') ?? '*' };
}
