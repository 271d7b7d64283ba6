import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type CallOptions, readBody, send } from './client.ts';
import { isOvertaken } from './differences.ts';
import { ApiProblem } from './problem.ts';

/** Computes the fields to set from the current resource. Called again if someone else has changed the resource. */
export type Change<T> = (now: T) => Readonly<Record<string, unknown>>;

/** The reader's change, which conflicts with a change by someone else. */
export interface Conflict<T> {
  readonly before: T;
  readonly theirs: T;
  readonly mine: Readonly<Record<string, unknown>>;
  /** Applies the reader's change to the current resource, or drops it. */
  readonly decide: (choice: 'mine' | 'theirs') => void;
}

export interface Thing<T> {
  readonly data: T | undefined;
  readonly error: unknown;
  /** Incremented when the reader accepts someone else's change. Forms use it as their key, so they start over. */
  readonly version: number;
  readonly conflict: Conflict<T> | undefined;
  reload(): Promise<void>;
  /**
   * Changes the resource (`PATCH` with `If-Match`). After a conflict, waits for the reader's decision.
   * @returns false if the reader accepted someone else's change instead
   * @throws as `call`
   */
  change(change: Change<T>, extra?: Readonly<Record<string, unknown>>): Promise<boolean>;
}

export interface ResourceVersion<T> {
  readonly data: T;
  readonly etag: string;
}

/**
 * Changes a resource (`PATCH` with `If-Match`). If someone else has changed the same fields since the reader saw them,
 * waits for the reader's decision.
 * @param path from `resource`
 */
export function useChange<T extends object>(path: string) {
  const conflict = useSignal<Conflict<T> | undefined>(undefined);

  /** @returns the current version, and whether it has the reader's change @throws as `call` */
  async function change(seen: ResourceVersion<T>, make: Change<T>, extra = {}) {
    for (let before = seen; ; ) {
      const mine = make(before.data);
      try {
        const body = { ...mine, ...extra };
        const now = await read<T>('PATCH', path, { body, headers: { 'if-match': before.etag } });
        return { now, isMine: true };
      } catch (failure) {
        if (!(failure instanceof ApiProblem && failure.status === 412)) throw failure;
      }
      const theirs = await read<T>('GET', path);
      if (isOvertaken(before.data, theirs.data, mine)) {
        const choice = await new Promise<'mine' | 'theirs'>((decide) => {
          conflict.value = { before: before.data, theirs: theirs.data, mine, decide };
        });
        conflict.value = undefined;
        if (choice === 'theirs') return { now: theirs, isMine: false };
      }
      before = theirs;
    }
  }

  return { conflict: conflict.value, change };
}

/** Reads a resource, and changes only the version that the reader has seen. @param path from `resource` */
export function useThing<T extends object>(path: string): Thing<T> {
  const seen = useSignal<ResourceVersion<T> | undefined>(undefined);
  const error = useSignal<unknown>(undefined);
  const version = useSignal(0);
  const changing = useChange<T>(path);

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
    const { now, isMine } = await changing.change(seen.peek()!, make, extra);
    seen.value = now;
    if (!isMine) version.value += 1;
    return isMine;
  }

  return {
    data: seen.value?.data,
    error: error.value,
    version: version.value,
    conflict: changing.conflict,
    reload: () => reload(),
    change,
  };
}

async function read<T>(method: string, path: string, options?: CallOptions): Promise<ResourceVersion<T>> {
  const response = await send(method, path, options);
  return { data: await readBody(response), etag: response.headers.get('etag') ?? '*' };
}
