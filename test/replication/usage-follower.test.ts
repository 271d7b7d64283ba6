import { expect, onTestFinished } from 'vitest';
import type { Refusal } from '../../src/replication/apply-entry.ts';
import { Link } from '../../src/replication/node-deps.ts';
import { RefusedRows } from '../../src/replication/usage-follower.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { createLog } from '../../src/runtime/log.ts';
import { needing } from '../support/needing.ts';
import { newDatabase, postgres, startPostgres } from './nodes.ts';
import { connect } from './test-node.ts';

startPostgres();

const { describe, it } = needing('postgresql');

describe('rows of deltas that were refused', () => {
  const createRefusal = (seq: number, row = '[]'): Refusal => ({
    position: seq,
    stream: 'one',
    seq,
    place: 'counts',
    reason: 'not a number',
    row,
  });

  async function setUp() {
    const url = await newDatabase();
    const session = connect(url);
    onTestFinished(() => session.close());
    const lines: Record<string, unknown>[] = [];
    let now = 0;
    const clock = { ...systemClock, monotonic: () => now };
    const log = createLog('info', (line) => void lines.push(JSON.parse(line)), systemClock);
    const refused = new RefusedRows({ link: new Link({ session, clock, log }), clock, log });
    const pass = (ms: number) => {
      now += ms;
      refused.logDue();
    };
    return { url, lines, refused, pass };
  }

  it('the first refused row is logged immediately, and further rows as one count a minute later', async () => {
    const { lines, refused, pass } = await setUp();
    const logged = () => lines.map(({ msg, rows, seq }) => [msg, rows, seq]);
    const msg = 'rows of deltas were refused';
    await refused.add([]);
    await refused.add([createRefusal(1)]);
    expect(logged()).toEqual([[msg, 1, 1]]);
    for (let seq = 2; seq <= 100; seq += 1) await refused.add([createRefusal(seq), createRefusal(seq, '[1]')]);
    pass(59_999);
    expect(logged()).toHaveLength(1);
    pass(1);
    pass(60_000);
    await refused.add([createRefusal(101)]);
    expect(logged()).toEqual([
      [msg, 1, 1],
      [msg, 198, 100],
      [msg, 1, 101],
    ]);
  });

  it('the database keeps each refused row once, and at most a thousand refused rows', async () => {
    const { url, refused } = await setUp();
    const kept = async () =>
      (await postgres.query<{ rows: number }>('SELECT count(*)::int AS rows FROM fm_refused', [], url))[0];
    await refused.add([createRefusal(1), createRefusal(1), createRefusal(2)]);
    await refused.add([createRefusal(2), createRefusal(2, '[1]')]);
    expect(await kept()).toEqual({ rows: 3 });
    await refused.add(Array.from({ length: 1500 }, (_, seq) => createRefusal(seq + 10)));
    expect(await kept()).toEqual({ rows: 1000 });
    await refused.add([createRefusal(5000)]);
    expect(await kept()).toEqual({ rows: 1000 });
  });
});
