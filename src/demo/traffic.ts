import type { Clock } from '../runtime/clock.ts';
import { brokenSenders } from './broken-senders.ts';
import { type GrpcCaller, openGrpcCaller } from './grpc-caller.ts';
import { metrics } from './metrics.ts';
import { packetOf } from './packet-of.ts';
import { createRandom, type Random } from './random.ts';
import { countsOf } from './report-of.ts';
import { agentOf, type Source, shopOrigin, sources } from './senders.ts';
import type { Shop } from './shop.ts';
import { environmentNames, type Story } from './story.ts';
import { usageJson, usageProto } from './usage-message.ts';

/** What the live traffic goes to, and what it is made of. */
export interface TrafficDeps {
  /** URL of the metrics host. */
  readonly url: string;
  /** `HOST:PORT` of gRPC. */
  readonly grpc: string;
  readonly shop: Shop;
  readonly story: Story;
  readonly clock: Clock;
}

const tickMs = 250;
const minuteMs = 60_000;

/** Servers of the other environments report less often. */
const quieter = 12;

/** Starts the traffic of the made-up shop, through the routes that real programs use. @returns ends it */
export function startTraffic(deps: TrafficDeps): () => void {
  const stopping = new AbortController();
  const grpc = openGrpcCaller(deps.grpc);
  const random = createRandom(deps.story.seed + 2);
  const post = poster(deps.url, stopping.signal);
  const ticks = [
    ...sources.flatMap((source) => tickersOf(source, { ...deps, random, post, grpc })),
    () => sendBroken(deps.shop, random, post),
    every(10_000, () => sendMetrics(deps, random, post), deps.clock),
  ];
  const timer = setInterval(() => {
    for (const tick of ticks) tick();
  }, tickMs);
  return () => {
    clearInterval(timer);
    stopping.abort();
    grpc.close();
  };
}

/** Sends a body, whatever becomes of it. */
type Post = (path: string, body: string, headers: Readonly<Record<string, string>>) => void;

interface Sending extends Omit<TrafficDeps, 'grpc'> {
  readonly random: Random;
  readonly post: Post;
  readonly grpc: GrpcCaller;
}

/** A server that stops, or refuses on purpose, is nothing to tell anyone of. */
function poster(url: string, signal: AbortSignal): Post {
  return (path, body, headers) => {
    const sent = fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
      signal,
    });
    void sent.then((response) => response.arrayBuffer()).catch(() => {});
  };
}

function tickersOf(source: Source, sending: Sending): (() => void)[] {
  return environmentNames.map((environment) => {
    if (source.sends === 'packets') return () => sendPackets(source, environment, sending);
    const pace = (environment === 'Production' ? 1 : quieter) / source.perMinute;
    let before = sending.clock.now();
    return every(
      pace * minuteMs,
      () => {
        const now = sending.clock.now();
        sendReport(source, environment, (now - before) / minuteMs, now, sending);
        before = now;
      },
      sending.clock,
    );
  });
}

/** A visitor's browser or app sends what it did since its last packet. */
function sendPackets(
  source: Source,
  environment: string,
  { shop, story, clock, random, post }: Sending,
): void {
  const now = clock.now();
  const mean = source.perMinute * story.rhythm.at(environment, now / minuteMs) * (tickMs / minuteMs);
  for (let left = random.poisson(mean); left > 0; left -= 1) {
    const packet = packetOf(story, source, environment, now, random);
    const headers = {
      'user-agent': agentOf(source, random.next()),
      ...(source.name === 'web' && { origin: shopOrigin }),
    };
    post('/api/frontend/telemetry', JSON.stringify({ k: shop.keys[source.keyType], ...packet }), headers);
  }
}

/** A server reports what it counted for some minutes. */
function sendReport(
  source: Source,
  environment: string,
  minutes: number,
  time: number,
  { shop, story, random, post, grpc }: Sending,
): void {
  const counts = countsOf(story, source, environment, time / minuteMs, minutes, random);
  if (counts.length === 0) return;
  const userAgent = agentOf(source, random.next());
  const report = {
    appKey: shop.keys[source.keyType],
    environment,
    time,
    instanceName: `${source.name}-1`,
    appVersion: source.version ?? '',
    counts,
  };
  if (source.sends === 'grpc reports')
    void grpc.call('/Usage.Usage/SendStats', usageProto(report), userAgent);
  else post('/api/usage/stats', usageJson(report), { 'user-agent': userAgent });
}

/** What is set up wrongly goes on being refused. */
function sendBroken({ keys }: Shop, random: Random, post: Post): void {
  for (const { perHour, key, environment, origin, source, path, body } of brokenSenders) {
    if (random.next() >= (perHour * tickMs) / (60 * minuteMs)) continue;
    const { userAgent = '' } = source;
    post(path, body(keys[key], environment), {
      'user-agent': userAgent,
      ...(origin !== undefined && { origin }),
    });
  }
}

function sendMetrics({ shop, story, clock }: TrafficDeps, random: Random, post: Post): void {
  const now = clock.now();
  const time = new Date(now).toISOString();
  const busyness = story.rhythm.at('Production', now / minuteMs);
  const valued = metrics.map(({ name, kind, value }) => ({
    kind,
    entry: { metric: name, value: value(random, busyness, 10_000 / minuteMs) },
  }));
  const body = {
    appKey: shop.keys.Backend,
    environment: 'Production',
    time,
    instanceName: 'worker-1',
    counters: valued.filter(({ kind }) => kind === 'counter').map(({ entry }) => entry),
    observations: valued.filter(({ kind }) => kind === 'gauge').map(({ entry }) => ({ ...entry, time })),
  };
  post('/api/metrics', JSON.stringify(body), { 'user-agent': 'shop-worker/3.0' });
}

/** Does something at most once in some time. */
function every(ms: number, act: () => void, { monotonic }: Clock): () => void {
  let last = monotonic();
  return () => {
    if (monotonic() - last < ms) return;
    last = monotonic();
    act();
  };
}
