import type { LedgerSource } from '../ingest/ledger/ledger.ts';
import type { Clock } from '../runtime/clock.ts';
import { minutesPerDay } from '../storage/lmdb/blocks.ts';
import type { MetricKind } from '../storage/lmdb/records.ts';
import type { DemoFlag } from './flags.ts';
import { metrics } from './metrics.ts';
import { atShare, Random } from './random.ts';
import {
  type BrokenSender,
  brokenSenders,
  ledgerSource,
  type Program,
  programs,
  shopOrigin,
} from './senders.ts';
import type { Shop } from './shop.ts';
import type { Story, VariantCounts, Visitor } from './story.ts';
import { sendUsage, usageJson } from './usage-report.ts';

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
const metricsPerMinute = 6;
const paths = {
  telemetry: '/api/frontend/telemetry',
  usage: '/api/usage/stats',
  metrics: '/api/metrics',
} as const;

/** What the ledger shows of a sender, which is how it sends. */
type Source = Pick<LedgerSource, 'userAgent'> & { readonly route: keyof typeof paths };

/** The live traffic of the shop, through the routes that real programs use. */
export class Traffic {
  readonly #deps: TrafficDeps;
  readonly #random: Random;
  readonly #stopping = new AbortController();
  readonly #timer: NodeJS.Timeout;
  /** The part of a message that each sender has not sent yet. */
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
      this.#pace(broken, broken.perHour / 60, () => this.#sendBroken(broken));
    this.#pace(metrics, metricsPerMinute, () => this.#sendMetrics(now));
  }

  /** Sends the messages of one sender in a tick, at even intervals. */
  #pace(sender: unknown, perMinute: number, send: () => void): void {
    let messages = (this.#due.get(sender) ?? this.#random.next()) + (perMinute * tickMs) / minuteMs;
    for (; messages >= 1; messages -= 1) send();
    this.#due.set(sender, messages);
  }

  /** A visitor's browser or app, or a server, sends what it counted since its last message. */
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
      if (source.transport === 'grpc') sendUsage(grpc, source.userAgent, report);
      else this.#post(source, usageJson(report));
    }
  }

  /** @param visitor whose flags are counted; without one, all that the program asks for */
  #count(program: Program, environment: string, minute: number, visitor?: Visitor): VariantCounts[] {
    const { story } = this.#deps;
    const day = Math.floor(minute / minutesPerDay);
    const active = story.activeFlags(environment, day);
    const messages = story.messagesPerMinute(program, environment, minute);
    const meanOf = ({ asks, reach }: DemoFlag) =>
      ((asks[program.name] ?? 0) * story.rhythm.at(environment, minute)) / messages / (visitor ? reach : 1);
    return [...story.counts(visitor ? story.met(visitor, active, day) : active, meanOf, this.#random)];
  }

  /** One of those who have come today, with the app or with a browser. */
  #visitorAt(minute: number, app: boolean): Visitor | undefined {
    const today = this.#deps.story.visitors(Math.floor(minute / minutesPerDay), minute);
    const visitors = today.filter(({ hasApp }) => hasApp === app);
    return visitors[Math.floor(this.#random.next() * visitors.length)];
  }

  /** What is configured wrongly goes on being refused. */
  #sendBroken({ key, environment, content, origin, source }: BrokenSender): void {
    const text = this.#deps.shop.keys[key];
    const head = source.route === 'telemetry' ? { k: text, e: environment } : { appKey: text, environment };
    this.#post(source, { ...head, ...content }, origin);
  }

  #sendMetrics(now: number): void {
    const { shop, story } = this.#deps;
    const time = new Date(now).toISOString();
    const traffic = story.rhythm.at('Production', now / minuteMs);
    const valuesOf = (wanted: MetricKind) =>
      metrics.flatMap(({ name: metric, kind, value }) =>
        kind === wanted ? [{ metric, value: value(this.#random, traffic, 1 / metricsPerMinute), time }] : [],
      );
    this.#post(
      { route: 'metrics', userAgent: 'shop-worker/3.0' },
      {
        ...{ appKey: shop.keys.Backend, environment: 'Production', time, instanceName: 'worker-1' },
        ...{ counters: valuesOf('counter'), observations: valuesOf('gauge') },
      },
    );
  }

  /** A server that stops, or refuses on purpose, is nothing to report. */
  #post({ route, userAgent = '' }: Source, body: object, origin?: string): void {
    const headers = {
      'content-type': 'application/json',
      'user-agent': userAgent,
      ...(origin && { origin }),
    };
    const init = { method: 'POST', headers, body: JSON.stringify(body), signal: this.#stopping.signal };
    void fetch(`${this.#deps.url}${paths[route]}`, init)
      .then((response) => response.arrayBuffer())
      .catch(() => {});
  }
}
