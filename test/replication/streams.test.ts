import { describe, expect, it } from 'vitest';
import { type Decision, decide, type KnownStream, type PostgresStream } from '../../src/replication/streams.ts';

/** Returns a stream whose delta `n` has the digest `n`. */
function known(sealed: number, acknowledged: number, kept = 1, isOwn = true): KnownStream {
  const digest = (seq: number) => (seq >= kept && seq <= sealed ? `${seq}` : undefined);
  return { isOwn, sealed, acknowledged, kept, digest };
}

function said(seq: number, digest = seq === 0 ? '' : `${seq}`, state: PostgresStream['state'] = 'open') {
  return { seq, digest, state };
}

interface Case {
  readonly when: string;
  readonly known: KnownStream;
  readonly said: PostgresStream | undefined;
  readonly isConfirmed?: boolean;
  readonly result: Decision;
}

const inherited = (sealed: number, acknowledged: number, kept = 1) => known(sealed, acknowledged, kept, false);

const cases: readonly Case[] = [
  { when: 'PostgreSQL does not know the stream', known: known(0, 0), said: undefined, result: { action: 'register' } },
  {
    when: 'PostgreSQL no longer knows the stream',
    known: known(3, 3),
    said: undefined,
    result: { action: 'register' },
  },
  {
    when: 'PostgreSQL does not know the stream of an earlier process, which is empty',
    known: inherited(0, 0),
    said: undefined,
    result: { action: 'rest' },
  },
  {
    when: 'an unconfirmed read lacks an empty stream of an earlier process',
    known: inherited(0, 0),
    said: undefined,
    isConfirmed: false,
    result: { action: 'confirm' },
  },
  {
    when: 'PostgreSQL does not know the stream of an earlier process, which has counts',
    known: inherited(3, 0),
    said: undefined,
    result: { action: 'register' },
  },
  { when: 'everything is shipped', known: known(3, 3), said: said(3), result: { action: 'rest' } },
  { when: 'nothing was ever sealed', known: known(0, 0), said: said(0), result: { action: 'rest' } },
  { when: 'a delta waits', known: known(3, 2), said: said(2), result: { action: 'ship', from: 3 } },
  { when: 'several deltas wait', known: known(5, 2), said: said(2), result: { action: 'ship', from: 3 } },
  {
    when: 'the response to a shipment was lost',
    known: known(3, 2),
    said: said(3),
    result: { action: 'acknowledge', seq: 3 },
  },
  {
    when: 'the response was lost, and more deltas wait',
    known: known(5, 2),
    said: said(4),
    result: { action: 'acknowledge', seq: 4 },
  },
  {
    when: 'PostgreSQL reverted to an earlier delta',
    known: known(5, 5),
    said: said(2),
    result: { action: 'shipAgain', from: 3 },
  },
  {
    when: 'PostgreSQL reverted to the beginning',
    known: known(2, 2),
    said: said(0),
    result: { action: 'shipAgain', from: 1 },
  },
  {
    when: 'PostgreSQL reverted, and more deltas wait',
    known: known(6, 4),
    said: said(3),
    result: { action: 'shipAgain', from: 4 },
  },
  {
    when: 'PostgreSQL reverted to the last delta removed here',
    known: known(6, 6, 4),
    said: said(3, 'x'),
    result: { action: 'shipAgain', from: 4 },
  },
  {
    when: 'PostgreSQL reverted to before the kept deltas',
    known: known(6, 6, 4),
    said: said(1, 'x'),
    result: { action: 'hold', why: 'behind' },
  },
  {
    when: 'PostgreSQL reverted, and no delta is kept',
    known: known(6, 6, 7),
    said: said(2, 'x'),
    result: { action: 'hold', why: 'behind' },
  },
  {
    when: 'PostgreSQL has more deltas than were sealed',
    known: inherited(3, 2),
    said: said(4, 'x'),
    isConfirmed: true,
    result: { action: 'hold', why: 'foreign' },
  },
  {
    when: 'an unconfirmed read has more deltas than were sealed',
    known: inherited(3, 2),
    said: said(4, 'x'),
    isConfirmed: false,
    result: { action: 'confirm' },
  },
  {
    when: 'PostgreSQL has another delta with the same number',
    known: inherited(3, 2),
    said: said(3, 'x'),
    isConfirmed: true,
    result: { action: 'hold', why: 'foreign' },
  },
  {
    when: 'an unconfirmed read has another delta with the same number',
    known: inherited(3, 2),
    said: said(3, 'x'),
    isConfirmed: false,
    result: { action: 'confirm' },
  },
  {
    when: 'PostgreSQL has another delta in place of the acknowledged delta',
    known: inherited(3, 2),
    said: said(2, 'x'),
    isConfirmed: true,
    result: { action: 'hold', why: 'foreign' },
  },
  {
    when: 'PostgreSQL has another delta in the stream of this process',
    known: known(3, 2),
    said: said(3, 'x'),
    isConfirmed: true,
    result: { action: 'hold', why: 'foreign' },
  },
  {
    when: 'the stream was closed, and a delta waits',
    known: known(3, 2),
    said: said(2, '2', 'forgotten'),
    result: { action: 'hold', why: 'closed' },
  },
  {
    when: 'an unconfirmed read has a closed stream, and a delta waits',
    known: inherited(3, 2),
    said: said(2, '2', 'forgotten'),
    isConfirmed: false,
    result: { action: 'confirm' },
  },
  {
    when: 'the stream of this process was closed with all of its deltas',
    known: known(3, 3),
    said: said(3, '3', 'done'),
    result: { action: 'hold', why: 'closed' },
  },
  {
    when: 'a closed stream has more deltas than were sealed',
    known: inherited(3, 2),
    said: said(9, 'x', 'forgotten'),
    result: { action: 'hold', why: 'foreign' },
  },
  {
    when: 'the stream was closed, and PostgreSQL reverted to before the kept deltas',
    known: inherited(6, 6, 4),
    said: said(1, 'x', 'forgotten'),
    result: { action: 'hold', why: 'closed' },
  },
  {
    when: 'an earlier stream is done, with all of its deltas',
    known: inherited(3, 3),
    said: said(3, '3', 'done'),
    result: { action: 'rest' },
  },
  {
    when: 'an earlier stream is done, and more deltas are here',
    known: inherited(4, 3),
    said: said(3, '3', 'done'),
    result: { action: 'hold', why: 'closed' },
  },
];

describe('decide', () => {
  it.each(cases)(
    'the next action of a stream is $result.action if $when',
    ({ known: stream, said: row, isConfirmed = true, result }) => {
      expect(decide(stream, row, isConfirmed)).toEqual(result);
    },
  );
});
