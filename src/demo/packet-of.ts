import type { Visitor } from './people.ts';
import type { Random } from './random.ts';
import type { Source } from './senders.ts';
import { numberedFlags, type Story } from './story.ts';

/** What a packet says besides its key. */
export interface DemoPacket {
  readonly e: string;
  readonly u?: string;
  readonly f: Record<string, Record<string, readonly number[]>>;
}

const dayMs = 86_400_000;

/** Visitors who are there at the same time. */
const crowd = 150;

/** Makes the packet of one visitor. In Production they are known, elsewhere they are testers. @param now Unix ms */
export function packetOf(
  story: Story,
  source: Source,
  environment: string,
  now: number,
  random: Random,
): DemoPacket {
  const day = Math.floor(now / dayMs);
  const visitor =
    environment === 'Production' ? visitorAt(story, source, day, (now % dayMs) / dayMs, random) : undefined;
  const f: DemoPacket['f'] = {};
  for (const [index, flag] of numberedFlags) {
    const asks = flag.asks[source.name];
    if (asks === undefined || !story.isAsked(flag, environment, day)) continue;
    const chance = flag.reach ?? 1;
    if (visitor !== undefined && flag.reach !== undefined && !story.people.meets(visitor, flag, index, day))
      continue;
    const checks = random.poisson(asks / source.perMinute / chance);
    if (checks === 0) continue;
    const shares = story.sharesOf(flag, environment, day);
    const variant = story.people.variantFor(visitor ?? tester(random), index, shares);
    const rate = story.rateOf(flag, index, variant, day);
    f[flag.name] = {
      [variant]: [checks, random.binomial(checks, rate.used), random.binomial(checks, rate.viewed)],
    };
  }
  return { e: environment, ...(visitor && { u: visitor.identity }), f };
}

function tester(random: Random): Pick<Visitor, 'number'> {
  return { number: Math.floor(random.next() * 1_000_000) };
}

/** One of those who are in the shop at this time of the day. */
function visitorAt(
  { people, rhythm }: Story,
  { name }: Source,
  day: number,
  elapsed: number,
  random: Random,
): Visitor | undefined {
  const visitors = people
    .visitorsOf(day, rhythm.busyness(day))
    .filter(({ hasApp }) => hasApp === (name === 'app'));
  const last = Math.floor(visitors.length * elapsed);
  return visitors[Math.max(0, last - Math.floor(random.next() * crowd))];
}
