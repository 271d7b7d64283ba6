import type { Mark, SpoolStore, StreamRecord } from '../store/spool.ts';
import { transact } from '../store/transact.ts';

/** The stream under which what is in the open delta was counted; `undefined` when there is none before this one. */
export function inheritedStream(store: SpoolStore, own: string): StreamRecord | undefined {
  const last = lastStream(store);
  return last?.stream === own ? undefined : last;
}

/** Begins the stream of this process, or goes on with it. */
export function beginStream(store: SpoolStore, stream: string, mark: Mark): StreamRecord {
  const known = store.streams.get(stream);
  if (known !== undefined) return known;
  const number = (lastStream(store)?.number ?? 0) + 1;
  const progress = { sealed: 0, acknowledged: 0, acknowledgements: [], first: 1 };
  const record: StreamRecord = { number, stream, ...progress, mark, state: 'open' };
  transact(store.lmdb, () => void store.streams.putSync(stream, record));
  return record;
}

function lastStream(store: SpoolStore): StreamRecord | undefined {
  return Array.from(store.streams.getRange(), ({ value }) => value).sort(
    (one, other) => other.number - one.number,
  )[0];
}
