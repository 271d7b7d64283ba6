import { connect } from 'node:http2';
import { bytesField, joinFields, numberField } from '../grpc/protobuf.ts';
import { messageFrame } from '../grpc/protocol.ts';
import type { Clock } from '../runtime/clock.ts';
import { minutesPerDay } from '../storage/lmdb/blocks.ts';
import type { DemoFeature } from './features.ts';
import {
  type BrokenSender,
  brokenSenders,
  ledgerSource,
  metrics,
  type Program,
  programs,
  shopOrigin,
} from './programs.ts';
import { atShare, Random } from './random.ts';
import type { Shop } from './shop.ts';
import type { Story, VariantCounts, Visitor } from './story.ts';

interface TrafficDeps {
  readonly url: string;
  /** `HOST:PORT` of the gRPC server. */
  readonly grpc: string;
  readonly shop: Shop;
  readonly story: Story;
  readonly clock: Clock;
}

const tickMs = 250;
const minuteMs = 60_000;
const metricsPerMinute = 6;
const paths = { telemetry: '/api/frontend/telemetry', usage: '/api/usage/stats', metrics: '/api/metrics' } as const;

/** Sends the live traffic of the shop, through the routes that real programs use. */
export class Traffic {
  readonly #deps: TrafficDeps;
  readonly #random: Random;
  readonly #stopping = new AbortController();
  readonly #timer: NodeJS.Timeout;
  /** Fraction of the next message that is already due, by sender. */
  readonly #due = new Map<unknown, number>();

  constructor(deps: TrafficDeps) {
    this.#deps = deps;
    this.#random = new Random(deps.story.seed + 2);
    this.#timer = setInterval(() => this.#tick(deps.clock.now()), tickMs);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#stopping.abort();
  }

  #tick(now: number): void {
    const { shop, story } = this.#deps;
    for (const { name } of shop.application.environments)
      for (const program of programs) {
        const perMinute = story.messagesPerMinute(program, name, now / minuteMs);
        this.#pace(`${name} ${program.name}`, perMinute, () => this.#sendCounts(program, name, now));
      }
    for (const broken of brokenSenders)
      this.#pace(broken, story.refusedPerMinute(broken, now / minuteMs), () => this.#sendBroken(broken));
    this.#pace(metrics, metricsPerMinute, () => this.#sendMetrics(now));
  }

  /** Sends the due messages of one sender at even intervals. */
  #pace(sender: unknown, perMinute: number, send: () => void): void {
    let messages = (this.#due.get(sender) ?? this.#random.next()) + (perMinute * tickMs) / minuteMs;
    for (; messages >= 1; messages -= 1) send();
    this.#due.set(sender, messages);
  }

  /** Sends a packet from the browser or app of a visitor, or a report from a server. */
  #sendCounts(program: Program, environment: string, now: number): void {
    const { shop, grpc } = this.#deps;
    const { key, name, sends, version: appVersion = '' } = program;
    const appKey = shop.keys[key];
    const source = ledgerSource(program, atShare(program.agents, this.#random.next()));
    const isVisited = sends === 'packets' && environment === 'Production';
    const visitor = isVisited ? this.#visitorAt(now / minuteMs, name === 'app') : undefined;
    const counted = this.#count(program, environment, now / minuteMs, visitor);
    if (source.route === 'telemetry') {
      const f: Record<string, Record<string, VariantCounts['counts']>> = {};
      for (const { feature, variant, counts } of counted) f[feature] = { ...f[feature], [variant]: counts };
      const body = { k: appKey, e: environment, ...(visitor && { u: visitor.identity }), f };
      this.#post(source, body, name === 'web' ? shopOrigin : undefined);
    } else if (counted.length > 0) {
      const report = { appKey, environment, time: now, instanceName: source.instance, appVersion, counted };
      if (source.transport === 'grpc') sendProto(grpc, source.userAgent, usageProto(report));
      else this.#post(source, usageJson(report));
    }
  }

  /** @param visitor visitor whose flags are counted; by default, all flags that the program checks are counted */
  #count(program: Program, environment: string, minute: number, visitor?: Visitor): VariantCounts[] {
    const { story } = this.#deps;
    const day = Math.floor(minute / minutesPerDay);
    const active = story.activeFeatures(environment, day);
    const messages = story.messagesPerMinute(program, environment, minute);
    const computeMean = ({ asks, reach }: DemoFeature) =>
      ((asks[program.name] ?? 0) * story.traffic(environment, minute)) / messages / (visitor ? reach : 1);
    return [...story.counts(visitor ? story.met(visitor, active, day) : active, computeMean, this.#random)];
  }

  /** Returns a random visitor of today, with the app or in a browser. */
  #visitorAt(minute: number, app: boolean): Visitor | undefined {
    const today = this.#deps.story.visitors(Math.floor(minute / minutesPerDay), minute);
    const visitors = today.filter(({ hasApp }) => hasApp === app);
    return visitors[Math.floor(this.#random.next() * visitors.length)];
  }

  #sendBroken({ key, environment, content, origin, source }: BrokenSender): void {
    const text = this.#deps.shop.keys[key];
    const head = source.route === 'telemetry' ? { k: text, e: environment } : { appKey: text, environment };
    this.#post(source, { ...head, ...content }, origin);
  }

  #sendMetrics(now: number): void {
    const { shop, story } = this.#deps;
    const time = new Date(now).toISOString();
    const traffic = story.traffic('Production', now / minuteMs);
    const values = metrics.map(({ name: metric, kind, value }) => {
      return { kind, stat: { metric, value: value(this.#random, traffic, 1 / metricsPerMinute), time } };
    });
    const of = (wanted: string) => values.filter(({ kind }) => kind === wanted).map(({ stat }) => stat);
    this.#post(
      { route: 'metrics', userAgent: 'shop-worker/3.0.1' },
      {
        appKey: shop.keys.Backend,
        environment: 'Production',
        time,
        instanceName: 'worker-1',
        counters: of('counter'),
        observations: of('gauge'),
      },
    );
  }

  /** Posts a message and ignores the response, because a refusal can be intended, and the server can be stopping. */
  #post(
    { route, userAgent = '' }: { readonly route: keyof typeof paths; readonly userAgent: string | undefined },
    body: object,
    origin?: string,
  ): void {
    const headers = { 'content-type': 'application/json', 'user-agent': userAgent, ...(origin && { origin }) };
    const init = { method: 'POST', headers, body: JSON.stringify(body), signal: this.#stopping.signal };
    void fetch(`${this.#deps.url}${paths[route]}`, init)
      .then((response) => response.arrayBuffer())
      .catch(() => {});
  }
}

interface UsageReport {
  readonly appKey: string;
  readonly environment: string;
  /** Unix ms. */
  readonly time: number;
  readonly instanceName: string;
  readonly appVersion: string;
  readonly counted: readonly VariantCounts[];
}

/** Returns the body of `POST /api/usage/stats`. */
function usageJson({ time, counted, ...head }: UsageReport): object {
  const stats = counted.map(({ feature, variant, counts: [checkCount, usedCount, viewedCount] }) => {
    return { feature, variantStats: { [variant]: { checkCount, usedCount, viewedCount } } };
  });
  return { ...head, time: new Date(time).toISOString(), stats };
}

/** Encodes a `Usage.FeatureStat` (`proto/usage.proto`). */
function usageProto(report: UsageReport): Uint8Array {
  const stats = report.counted.map(({ feature, variant, counts: [checks, used, viewed] }) => {
    const counts = joinFields(numberField(1, checks), numberField(3, used), numberField(4, viewed));
    const entry = joinFields(bytesField(1, variant), bytesField(2, counts));
    return bytesField(4, joinFields(bytesField(1, feature), bytesField(11, entry)));
  });
  return joinFields(
    bytesField(1, report.appKey),
    bytesField(2, report.environment),
    bytesField(3, numberField(1, Math.floor(report.time / 1000))),
    ...stats,
    bytesField(6, report.instanceName),
    bytesField(8, report.appVersion),
  );
}

/** Calls `Usage.Usage/SendStats`. @param authority `HOST:PORT` of a server without TLS */
function sendProto(authority: string, userAgent: string, message: Uint8Array): void {
  const session = connect(`http://${authority}`);
  session.on('error', () => {});
  const stream = session.request({
    ':method': 'POST',
    ':path': '/Usage.Usage/SendStats',
    te: 'trailers',
    'content-type': 'application/grpc',
    'user-agent': userAgent,
  });
  stream.on('error', () => {}).on('close', () => session.close());
  stream.resume();
  stream.end(messageFrame(message));
}
