import fc from 'fast-check';
import { encodeBody, type ReplicaSettings } from '../../src/replication/entry.ts';
import type { Mint } from '../../src/storage/lmdb/instances.ts';
import { environments } from './test-replica.ts';
import {
  appendMints,
  application,
  createMint,
  hashPerson,
  start,
  TestLog,
  type TestPacket,
  TestStream,
} from './test-streams.ts';

export const people = ['ann', 'bob', 'eve'];
export const features = ['a', 'b', 'c', '__proto__'];

/** Generators for events of three nodes. The events happen one after another. */
const streamNumber = fc.nat({ max: 2 });
const person = fc.constantFrom(...people);
const counts = fc.tuple(fc.nat({ max: 9 }), fc.nat({ max: 9 }), fc.nat({ max: 9 }));
// Sums of eighths have no rounding error, in any order.
const eighths = fc.integer({ min: -1000, max: 1000 }).map((value) => value / 8);
const sent: fc.Arbitrary<TestPacket> = fc.record({
  environment: fc.constantFrom(...environments),
  f: fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.dictionary(fc.constantFrom('on', 'off'), counts, { minKeys: 1 })),
  m: fc.dictionary(fc.constantFrom('g', 'k'), eighths, { maxKeys: 1 }),
  ago: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat({ max: 300 }), fc.nat({ max: 4000 })),
  person: fc.option(person, { nil: undefined }),
  sender: fc.constantFrom('Firefox', 'Chrome'),
});

const happening = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('send'), stream: streamNumber, sent }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('message'),
      stream: streamNumber,
      other: streamNumber,
      sent,
      minutes: fc.nat({ max: 9 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('mint'), person }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('unresolved'), stream: streamNumber, sent, mint: fc.nat({ max: 5 }) }),
  },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('ship'), stream: streamNumber, lag: fc.nat({ max: 4 }) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('horizon') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('forget'), person }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart'), stream: streamNumber }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('pass'),
      minutes: fc.oneof(fc.nat({ max: 15 }), fc.nat({ max: 100 }), fc.nat({ max: 3000 })),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('erase') }) },
);

export type HistoryEvent = typeof happening extends fc.Arbitrary<infer T> ? T : never;
export const happenings = fc.array(happening, { maxLength: 60, size: 'max' });

/** One packet of a delta, for a model that applies packets one by one. */
export interface Item {
  readonly sent: TestPacket;
  readonly now: number;
  readonly identity?: Uint8Array;
  readonly mint?: Mint;
}

/** The content of a delta, in the order in which a replica adds it. */
export interface ShippedDelta {
  readonly since: number;
  readonly items: readonly Item[];
}

const names = { features: 100, variants: 100, metrics: 100 };

/** Turns the events of three nodes into a log. */
export class History {
  readonly log = new TestLog();
  now = start;
  /** Contents of the deltas, by position. */
  readonly shipped = new Map<number, ShippedDelta>();
  readonly minted = new Map<number, Mint>();
  readonly #ttlMs: number;
  #mints: Mint[] = [];
  #streams: { stream: TestStream; items: Item[] }[] = [];
  #begun = 0;
  #identities = 0;

  /** @param settings settings of the log; if missing, the defaults apply */
  constructor(happened: readonly HistoryEvent[], settings?: ReplicaSettings, ttlMs = 1000 * 86_400_000) {
    this.#ttlMs = ttlMs;
    if (settings !== undefined) this.log.append('settings', encodeBody('settings', settings));
    for (let number = 0; number < 3; number += 1) this.#begin(number);
    for (const each of happened) this.#happen(each);
    for (const number of this.#streams.keys()) this.#ship(number, 0);
  }

  #happen(each: HistoryEvent): void {
    if (each.kind === 'pass') this.now += each.minutes * 60_000;
    else if (each.kind === 'send') this.#send(each.stream, { sent: each.sent, now: this.now });
    else if (each.kind === 'message') this.#sendTwice(each);
    else if (each.kind === 'mint') this.#mint(each.person);
    else if (each.kind === 'unresolved') this.#sendUnresolved(each);
    else if (each.kind === 'ship') this.#ship(each.stream, each.lag);
    else if (each.kind === 'restart') this.#restart(each.stream);
    else if (each.kind === 'horizon') this.#horizon();
    else if (each.kind === 'forget') this.#forget(each.person);
    else this.log.append('erase', encodeBody('erase', { application, environments: [2], whole: false }));
    this.now += 1; // No two values of a metric have the same time.
  }

  #send(number: number, item: Item): void {
    const { stream, items } = this.#streams[number]!;
    items.push(item);
    if (item.identity !== undefined) stream.sendMessage(item.sent, item.identity, item.now);
    else if (item.mint !== undefined) stream.sendUnresolved(item.sent, item.mint, item.now);
    else stream.send(item.sent, item.now);
  }

  #sendTwice({ stream, other, sent: given, minutes }: Extract<HistoryEvent, { kind: 'message' }>): void {
    this.#identities += 1;
    const identity = Buffer.alloc(16, this.#identities);
    this.#send(stream, { sent: given, now: this.now, identity });
    this.now += minutes * 60_000 + 1;
    this.#send(other, { sent: given, now: this.now, identity });
  }

  #mint(identity: string): void {
    const mint = createMint(identity, this.#mints.length, this.now, this.#ttlMs);
    this.#mints.push(mint);
    appendMints(this.log, mint);
    this.minted.set(this.log.position, mint);
  }

  #sendUnresolved({ stream, sent: given, mint: number }: Extract<HistoryEvent, { kind: 'unresolved' }>): void {
    const mint = this.#mints.at(-1 - number);
    if (mint === undefined) return;
    const { identity } = JSON.parse(mint.profile) as { identity: string };
    this.#send(stream, { sent: { ...given, ago: 0, person: identity }, now: this.now, mint });
  }

  #ship(number: number, lag: number): void {
    const { stream, items } = this.#streams[number]!;
    const { since } = stream;
    stream.ship(this.log, this.now, this.log.position + 1 - Math.min(lag, this.log.position));
    const isMessage = ({ identity }: Item) => identity !== undefined;
    const ordered = [...items.filter((each) => !isMessage(each)), ...items.filter(isMessage)];
    this.shipped.set(this.log.position, { since, items: ordered });
    this.#streams[number]!.items = [];
  }

  #begin(number: number): void {
    this.#begun += 1;
    this.#streams[number] = { stream: new TestStream(`s${this.#begun}`, this.log, this.now, names), items: [] };
  }

  #restart(number: number): void {
    this.#ship(number, 0);
    this.#begin(number);
  }

  #horizon(): void {
    const streams = this.#streams.map(({ stream }) => stream);
    const through = Math.min(...streams.map((each) => each.through));
    const since = Math.min(...streams.map((each) => each.since));
    const open = streams.map(({ id }) => id);
    this.log.append('horizon', encodeBody('horizon', { through, since, now: this.now, open, nodes: [] }));
  }

  #forget(identity: string): void {
    const digest = hashPerson(identity).toString('hex');
    this.log.append('forget', encodeBody('forget', { application, environments, digest }));
  }
}
