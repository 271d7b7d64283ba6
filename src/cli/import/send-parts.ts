import type { ImportedPart, ImportPart } from '../../contract/shapes/import.ts';
import type { Api } from '../api.ts';
import type { Context } from '../context.ts';
import { Failure } from '../failure.ts';
import { readFields } from '../send.ts';
import type { Part } from './parts.ts';

/** Numbers of imported counts and measurements. */
export interface ImportCounts {
  /** `imported`: rows of parts that the server counted now. `repeated`: rows of parts that it counted before. */
  imported: number;
  repeated: number;
  outside: number;
  folded: number;
  dropped: number;
}

type Head = Pick<ImportPart, 'environment' | 'import' | 'dryRun'>;

/** Maximum number of concurrent requests. While the server counts a part, the next part is read. */
const maxUnderWay = 3;

/** Minimum interval between two parts, ms. The rate stays below the default limit of 100 requests a second. */
const intervalMs = 12.5;

/** Maximum time to wait for an unavailable server, and maximum interval between two attempts, ms. */
const patienceMs = 300_000;
const longestWaitMs = 10_000;

/**
 * Sends the parts of an import, and retries parts that the server cannot accept yet.
 * @param path path of the application's imports in the API
 * @param progress receives the number of source bytes that the server has counted
 * @param over ends the import when it aborts
 * @throws {Failure} if the server refuses a part, or is unavailable for too long
 */
export async function sendParts(
  context: Context,
  api: Api,
  path: readonly string[],
  head: Head,
  parts: Iterable<Part>,
  progress: (done: number) => void,
  over: AbortSignal,
): Promise<ImportCounts> {
  const sent: ImportCounts = { imported: 0, repeated: 0, outside: 0, folded: 0, dropped: 0 };
  const underWay = new Set<Promise<void>>();
  const failures: unknown[] = [];
  const send = async ({ number, rows, content, done }: Part) => {
    const result = await sendPart(context, api, path, { ...head, part: number, ...content });
    add(sent, rows, result);
    progress(done);
  };
  let next = context.clock.monotonic();
  for (const part of parts) {
    const now = context.clock.monotonic();
    if (next > now) await context.sleep(next - now);
    next = Math.max(next, now) + intervalMs;
    const one = send(part)
      .catch((error) => void failures.push(error))
      .finally(() => underWay.delete(one));
    underWay.add(one);
    if (underWay.size >= maxUnderWay) await Promise.race(underWay);
    if (failures.length > 0 || over.aborted) break;
  }
  await Promise.all(underWay);
  if (failures.length > 0) throw failures[0];
  return sent;
}

async function sendPart(context: Context, api: Api, path: readonly string[], part: ImportPart): Promise<ImportedPart> {
  const began = context.clock.monotonic();
  for (let wait = 500; ; wait = Math.min(2 * wait, longestWaitMs)) {
    try {
      return readFields(await api.call('POST', path, part)) as ImportedPart;
    } catch (error) {
      if (!(error instanceof Failure) || error.kind !== 'unavailable') throw error;
      if (context.clock.monotonic() - began > patienceMs) throw givenUp(error);
      if (wait > 2000) context.err(`${error.message}; retrying\n`);
      await context.sleep(wait);
    }
  }
}

export const howToResume = 'Run the same command again to import the rest';

function givenUp({ message }: Failure): Failure {
  return new Failure('unavailable', `${message}. ${howToResume}`);
}

function add(sent: ImportCounts, rows: number, { counted, outside, folded, dropped }: ImportedPart): void {
  sent[counted ? 'imported' : 'repeated'] += rows - outside - dropped;
  sent.outside += outside;
  sent.dropped += dropped;
  sent.folded += folded;
}
