import type { Apart, Envelope } from '../storage/commit/envelope.ts';
import { eachRecordOf, type RecordRange, type SealedRecords } from '../storage/commit/record-buffer.ts';
import { type BatchMessage, eachExposureOf, messageChanges } from '../storage/commit/records.ts';
import { seriesPerEnvironment } from '../storage/lmdb/blocks.ts';
import type { CountedMessage, PersonExposures } from './delta.ts';

/** Indexes of the kinds in an extent. */
const place = { counts: 0, measurements: 1, users: 2, exposures: 3, unresolved: 4 } as const;
type Kind = keyof typeof place;

/**
 * The messages of a batch. One that adds nothing is shipped too: its counts may be those of an equal message of this batch, but
 * a retry on another node must find it.
 */
export function countedMessages(envelope: Envelope): readonly BatchMessage[] {
  if (envelope.messages === undefined) return [];
  return messageChanges(envelope).filter(({ forgotten }) => forgotten !== true);
}

/** The batch without the contents of these messages. */
export function withoutMessages(envelope: Envelope, messages: readonly BatchMessage[]): Envelope {
  if (messages.length === 0) return envelope;
  const ranges = (kind: Kind) => messages.map((message) => rangeOf(message, kind));
  const apart: Apart = {
    counts: ranges('counts'),
    measurements: ranges('measurements'),
    users: ranges('users'),
    exposures: ranges('exposures'),
  };
  const taken = ranges('unresolved');
  const isTaken = (_: unknown, at: number) => taken.some(([from, to]) => from <= at && at < to);
  const unresolved = envelope.unresolved.filter((use, at) => !isTaken(use, at));
  return { ...envelope, apart, unresolved };
}

/** The contents of a message of a batch. */
export function contentOf(envelope: Envelope, message: BatchMessage): CountedMessage {
  const rows = (kind: Kind & keyof Envelope, width: number) => {
    const found: number[] = [];
    eachRecordOf(
      envelope[kind] as SealedRecords | undefined,
      envelope.batch,
      rangeOf(message, kind),
      (...row) => void found.push(...row.slice(0, width)),
    );
    return found;
  };
  return {
    identity: message.identity,
    at: Math.max(0, Math.floor(message.at)),
    counts: rows('counts', 5),
    measurements: rows('measurements', 4),
    users: rows('users', 4),
    exposures: exposuresOf(envelope, rangeOf(message, 'exposures')),
    unresolved: envelope.unresolved.slice(...rangeOf(message, 'unresolved')),
  };
}

function exposuresOf(envelope: Envelope, range: RecordRange): PersonExposures[] {
  const people: (PersonExposures & { readonly rows: number[] })[] = [];
  let digest: Buffer;
  eachExposureOf(envelope, range, {
    person: (next) => {
      digest = next;
    },
    exposure(ref, seconds, checks, used, viewed) {
      const environment = Math.floor(ref / seriesPerEnvironment);
      let person = people.at(-1);
      if (person?.digest !== digest || person.environment !== environment) {
        person = { environment, digest, rows: [] };
        people.push(person);
      }
      person.rows.push(ref % seriesPerEnvironment, seconds, seconds, checks, used, viewed);
    },
  });
  return people;
}

function rangeOf({ from, to }: BatchMessage, kind: Kind): RecordRange {
  return [from[place[kind]], to[place[kind]]];
}
