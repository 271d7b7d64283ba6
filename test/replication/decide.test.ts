import { describe, expect, it } from 'vitest';
import {
  type Decision,
  decide,
  type KnownStream,
  type PostgresStream,
} from '../../src/replication/decide.ts';

/** A stream whose delta `n` has the digest `n`. */
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

const inherited = (sealed: number, acknowledged: number, kept = 1) =>
  known(sealed, acknowledged, kept, false);

const cases: readonly Case[] = [
  {
    when: 'the engine does not know the stream',
    known: known(0, 0),
    said: undefined,
    result: { action: 'register' },
  },
  {
    when: 'it does not know it any more',
    known: known(3, 3),
    said: undefined,
    result: { action: 'register' },
  },
  { when: 'everything is shipped', known: known(3, 3), said: said(3), result: { action: 'rest' } },
  { when: 'nothing was ever sealed', known: known(0, 0), said: said(0), result: { action: 'rest' } },
  { when: 'a delta waits', known: known(3, 2), said: said(2), result: { action: 'ship', from: 3 } },
  { when: 'several wait', known: known(5, 2), said: said(2), result: { action: 'ship', from: 3 } },
  {
    when: 'the answer to a ship was lost',
    known: known(3, 2),
    said: said(3),
    result: { action: 'acknowledge', seq: 3 },
  },
  {
    when: 'it was lost, and more wait',
    known: known(5, 2),
    said: said(4),
    result: { action: 'acknowledge', seq: 4 },
  },
  {
    when: 'the engine went back',
    known: known(5, 5),
    said: said(2),
    result: { action: 'shipAgain', from: 3 },
  },
  {
    when: 'it went back to the beginning',
    known: known(2, 2),
    said: said(0),
    result: { action: 'shipAgain', from: 1 },
  },
  {
    when: 'it went back, and more wait',
    known: known(6, 4),
    said: said(3),
    result: { action: 'shipAgain', from: 4 },
  },
  {
    when: 'it went back to the last that is gone here',
    known: known(6, 6, 4),
    said: said(3, 'x'),
    result: { action: 'shipAgain', from: 4 },
  },
  {
    when: 'it went back further than is kept',
    known: known(6, 6, 4),
    said: said(1, 'x'),
    result: { action: 'hold', why: 'behind' },
  },
  {
    when: 'it went back, and nothing is kept',
    known: known(6, 6, 7),
    said: said(2, 'x'),
    result: { action: 'hold', why: 'behind' },
  },
  {
    when: 'it has more than was sealed',
    known: inherited(3, 2),
    said: said(4, 'x'),
    isConfirmed: true,
    result: { action: 'hold', why: 'foreign' },
  },
  {
    when: 'it may have more than was sealed',
    known: inherited(3, 2),
    said: said(4, 'x'),
    isConfirmed: false,
    result: { action: 'confirm' },
  },
  {
    when: 'it has another delta under the number',
    known: inherited(3, 2),
    said: said(3, 'x'),
    isConfirmed: true,
    result: { action: 'hold', why: 'foreign' },
  },
  {
    when: 'it may have another delta',
    known: inherited(3, 2),
    said: said(3, 'x'),
    isConfirmed: false,
    result: { action: 'confirm' },
  },
  {
    when: 'the acknowledged one is another',
    known: inherited(3, 2),
    said: said(2, 'x'),
    isConfirmed: true,
    result: { action: 'hold', why: 'foreign' },
  },
  {
    when: 'an own stream has another delta',
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
    when: 'it may have been closed',
    known: inherited(3, 2),
    said: said(2, '2', 'forgotten'),
    isConfirmed: false,
    result: { action: 'confirm' },
  },
  {
    when: 'the own stream was closed with all of it',
    known: known(3, 3),
    said: said(3, '3', 'done'),
    result: { action: 'hold', why: 'closed' },
  },
  {
    when: 'a closed one has more than was sealed',
    known: inherited(3, 2),
    said: said(9, 'x', 'forgotten'),
    result: { action: 'hold', why: 'foreign' },
  },
  {
    when: 'the engine went back to before what is kept, and the stream was closed',
    known: inherited(6, 6, 4),
    said: said(1, 'x', 'forgotten'),
    result: { action: 'hold', why: 'closed' },
  },
  {
    when: 'an earlier stream is done, with all of it',
    known: inherited(3, 3),
    said: said(3, '3', 'done'),
    result: { action: 'rest' },
  },
  {
    when: 'it is done, and there is more here',
    known: inherited(4, 3),
    said: said(3, '3', 'done'),
    result: { action: 'hold', why: 'closed' },
  },
];

describe('the decision about a stream', () => {
  it.each(cases)('when $when', ({ known: stream, said: row, isConfirmed = true, result }) => {
    expect(decide(stream, row, isConfirmed)).toEqual(result);
  });
});
