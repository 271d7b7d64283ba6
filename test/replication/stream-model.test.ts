import { describe, expect, it } from 'vitest';
import { type Model, search } from './stream-model.ts';

/** Number of packets. Three packets take six times as long, and found no broken rule that two packets do not find. */
const packets = Number(process.env['PACKETS'] ?? 2);

const sound: readonly (readonly [string, Model])[] = [
  ['with lost responses and a failover', { packets, failovers: 1 }],
  ['with two failovers', { packets: 2, failovers: 2 }],
  ['with a failover that loses commits', { packets, failovers: 1, isLossy: true }],
  ['with two lossy failovers', { packets: 2, failovers: 2, isLossy: true }],
  ['when the directory of a node is restored from an old copy', { packets, failovers: 1, copy: 'restored' }],
  ['while a copy of the directory of a node runs', { packets, failovers: 1, copy: 'cloned' }],
  [
    'when deltas that a failover reverts are no longer kept',
    { packets, failovers: 2, isLossy: true, keepsNothing: true },
  ],
  ['when streams are closed', { packets: 2, failovers: 1, closes: 2 }],
  ['when a failover reverts the closing of streams', { packets: 2, failovers: 2, closes: 1, isLossy: true }],
  ['if the streams of an old copy are closed', { packets: 2, failovers: 1, closes: 1, copy: 'restored' }],
  ['if the streams of two running copies are closed', { packets: 2, failovers: 0, closes: 1, copy: 'cloned' }],
  ['if the former primary is queried', { packets: 2, failovers: 1, closes: 1, isOldAsked: true }],
];

const unsound: readonly (readonly [string, Model])[] = [
  ['the fence', { packets: 1, failovers: 0, without: 'fence' }],
  ['the confirmation of reads', { packets: 2, failovers: 1, closes: 1, isOldAsked: true, without: 'confirmation' }],
];

describe('the streams of two nodes', () => {
  it.each(sound)('each packet to two nodes is either counted once, or held and reported, %s', (_, model) => {
    const { states, wrong } = search(model);
    expect(wrong).toBeUndefined();
    expect(states).toBeGreaterThan(100);
  });

  it.each(unsound)(
    'the model of two nodes counts a packet twice or loses a packet if the model lacks %s',
    (_, model) => {
      expect(search(model).wrong).toMatch(/counted twice|missing/);
    },
  );
});
