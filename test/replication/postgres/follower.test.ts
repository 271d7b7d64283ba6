import { describe, expect, test } from 'vitest';
import {
  entriesAfter,
  Follower,
  type LogEntry,
  type LogGap,
  type LogPosition,
  type LogRead,
  logStart,
} from '../../../src/replication/postgres/follower.ts';

type TestEntry = LogEntry<string>;

const at = (position: number, id = `id-${position}`): LogPosition => ({ position, id });
const entry = (position: number, body: string | null = 'body', id?: string): TestEntry => ({
  ...at(position, id),
  body,
});

const next = (read: LogRead<TestEntry>) => entriesAfter(read).map(({ position }) => position);

describe('the entries to apply next', () => {
  const own = entry(2, null);

  test.each<[string, LogRead<TestEntry>, number[]]>([
    ['follow the last entry applied', { from: at(2), entries: [own, entry(3), entry(4)] }, [3, 4]],
    ['are all entries at the start of the log', { from: logStart, entries: [entry(1), entry(2)] }, [1, 2]],
    ['are empty at the end', { from: at(2), entries: [own], head: at(2) }, []],
    ['are empty in an empty log', { from: logStart, entries: [], head: logStart }, []],
    ['end at the head', { from: at(2), entries: [own, entry(3)], head: at(3) }, [3]],
    ['do not include earlier entries', { from: at(2), entries: [entry(1), own, entry(3)], head: at(3) }, [3]],
    ['do not go beyond the head', { from: at(2), entries: [own, entry(3), entry(4)], head: at(3) }, [3]],
  ])('the entries to apply next %s', (_, read, positions) => expect(next(read)).toEqual(positions));

  test.each<[string, LogRead<TestEntry>, boolean]>([
    ['the last entry applied is gone', { from: at(2), entries: [entry(3)], head: at(3) }, true],
    ['the last position applied has another id', { from: at(2), entries: [entry(2, null, 'other'), entry(3)] }, true],
    ['the head has the last position applied and another id', { from: at(2), entries: [], head: at(2, 'other') }, true],
    ['the log ends before the last entry applied', { from: at(2), entries: [], head: at(1) }, true],
    ['an entry is missing', { from: at(2), entries: [own, entry(4)] }, false],
    ['the first entry is missing', { from: logStart, entries: [entry(2)] }, false],
    ['the entries end before the head', { from: at(2), entries: [own, entry(3)], head: at(4) }, false],
    [
      'the id of the head differs from the id of the last entry',
      { from: at(2), entries: [own, entry(3)], head: at(3, 'x') },
      false,
    ],
    ['an entry was trimmed', { from: at(2), entries: [own, entry(3), entry(4, null)] }, false],
  ])('a log cannot be followed if %s', (_, read, isLost) => {
    expect(() => next(read)).toThrow(expect.objectContaining({ name: 'LogGap', isLost }));
  });
});

class TestFollower extends Follower<TestEntry> {
  log: readonly TestEntry[] = [entry(1), entry(2), entry(3)];
  readonly content: { applied: LogPosition; unusable: string | undefined };
  readonly gaps: LogGap[] = [];

  constructor(applied = logStart, unusable?: string) {
    const content = { applied, unusable };
    super(content);
    this.content = content;
  }

  async read(): Promise<LogRead<TestEntry>> {
    return { from: this.content.applied, entries: this.log };
  }

  protected async apply(entries: readonly TestEntry[]): Promise<void> {
    this.content.applied = entries.at(-1) ?? this.content.applied;
  }

  protected async load(gap: LogGap): Promise<void> {
    this.gaps.push(gap);
    await Promise.resolve();
    this.content.applied = this.log.at(-1)!;
    this.content.unusable = undefined;
  }
}

describe('a follower', () => {
  test('a follower of a log applies the next entries', async () => {
    const follower = new TestFollower();
    expect(await follower.follow(await follower.read())).toHaveLength(3);
    expect(follower.content.applied).toMatchObject(at(3));
    expect(await follower.follow(await follower.read())).toEqual([]);
  });

  test('a follower of a log replaces its content once for all calls that find the same gap', async () => {
    const follower = new TestFollower(at(2, 'other'));
    const read = await follower.read();
    expect(await Promise.all([follower.follow(read), follower.follow(read)])).toEqual([undefined, undefined]);
    expect(follower.gaps).toMatchObject([{ isLost: true }]);
    expect(follower.content.applied).toMatchObject(at(3));
  });

  test('a follower of a log replaces unusable content even if it could follow the log', async () => {
    const follower = new TestFollower(logStart, 'half of it is missing');
    await follower.follow(await follower.read());
    expect(follower.gaps).toMatchObject([{ message: 'half of it is missing', isLost: false }]);
  });

  test('a follower of a log reads again if it has advanced since a read that found a gap', async () => {
    const follower = new TestFollower();
    const read = { ...(await follower.read()), entries: [entry(3)] };
    follower.content.applied = at(2);
    expect(await follower.follow(read)).toMatchObject([at(3)]);
    expect(follower.gaps).toEqual([]);
  });
});
