import { describe, expect, it } from 'vitest';
import { Completeness } from '../../src/replication/completeness.ts';

describe('the time through which a replica is complete', () => {
  /** Reports that the node's own deltas are in the log up to `through`. */
  function shippedTo(completeness: Completeness, seq: number, through: number): void {
    completeness.asked({ acknowledged: seq, throughSeq: seq, through });
  }

  function follow(completeness: Completeness, othersThrough?: number, isLoaded = false): void {
    const through = completeness.shown(othersThrough);
    completeness.followed({ isAtEnd: true, isLoaded, through });
  }

  it('the completeness of a replica is unknown until the replica has applied the whole log', () => {
    const completeness = new Completeness();
    shippedTo(completeness, 1, 100);
    completeness.followed({ isAtEnd: false, isLoaded: false, through: completeness.shown() });
    expect(completeness.known).toBeUndefined();
    follow(completeness);
    expect(completeness.known).toBe(100);
  });

  it('a replica is complete through the earliest time of all streams', () => {
    const completeness = new Completeness();
    shippedTo(completeness, 1, 100);
    follow(completeness, 70);
    expect(completeness.known).toBe(70);
    follow(completeness, 200);
    expect(completeness.known).toBe(100);
  });

  it('the time through which a replica is complete does not advance while a delta is being shipped', () => {
    const completeness = new Completeness();
    shippedTo(completeness, 1, 100);
    completeness.asked({ acknowledged: 1, throughSeq: 2, through: 300 });
    follow(completeness);
    expect(completeness.known).toBe(100);
  });

  it('completeness is unknown from the load of a snapshot until the replica reaches the end of the log', () => {
    const completeness = new Completeness();
    shippedTo(completeness, 1, 100);
    follow(completeness);
    completeness.followed({ isAtEnd: false, isLoaded: true, through: completeness.shown() });
    expect(completeness.known).toBeUndefined();
    follow(completeness);
    expect(completeness.known).toBe(100);
  });

  it('the completeness of a replica is unknown while PostgreSQL lacks deltas that it had before', () => {
    const completeness = new Completeness();
    shippedTo(completeness, 5, 100);
    follow(completeness);
    completeness.asked({ acknowledged: 3, throughSeq: 5, through: 100 });
    follow(completeness);
    expect(completeness.known).toBeUndefined();
    shippedTo(completeness, 5, 100);
    follow(completeness);
    expect(completeness.known).toBe(100);
  });
});
