import { surplusName } from '../contract/names.ts';
import { type Program, parseBrowser, parseProduct, unknownBrowser } from '../contract/programs.ts';
import type { Batch } from '../storage/commit/batch.ts';
import type { EnvironmentSeries } from '../storage/commit/series-dictionary.ts';
import { otherSender, type Sender, slotMs } from '../storage/lmdb/senders.ts';
import { environmentOrdinal } from '../storage/lmdb/sketches.ts';
import { ledgerText } from './ledger/hour-rows.ts';

interface ReportSource extends Pick<Sender, 'transport' | 'route'> {
  readonly userAgent: string | undefined;
  readonly appVersion: string | undefined;
}

type SenderSink = Pick<Batch, 'senders'>;

/** Maximum number of remembered marks (see `Senders`), which take about 30 MB. At the limit, all are forgotten. */
const maxSightings = 500_000;

/**
 * Adds a mark to a batch when a sender, or its request for a feature, is first seen in a period of ten minutes. Later
 * messages of the period cost two lookups. Marks of a rolled-back batch go into the next one (see `Lane`).
 */
export class Senders {
  readonly #environments = new Map<number, { readonly packets: Crowd; readonly reports: Crowd }>();
  #slot = 0;
  #sightings = 0;

  /** Returns the sender of a packet at `now` (Unix ms). Adds a mark to the batch if the sender is new. */
  ofPacket(batch: SenderSink, environment: number, userAgent: string | undefined, now: number): Asker {
    const { packets } = this.#at(environment, now);
    return packets.find(userAgent) ?? packets.meet(batch, userAgent, packetSender(userAgent));
  }

  /** Returns the sender of a report, and marks it like `ofPacket`. */
  ofReport(batch: SenderSink, environment: number, source: ReportSource, now: number): Asker {
    const { userAgent, appVersion } = source;
    const { reports } = this.#at(environment, now);
    const text = `${source.route} ${source.transport} ${appVersion ?? ''}\n${userAgent ?? ''}`;
    return reports.find(text) ?? reports.meet(batch, text, reportSender(source, userAgent, appVersion));
  }

  /** Returns a sender that names itself in its message, and marks it like `ofPacket`. */
  ofNamed(batch: SenderSink, environment: number, sender: Sender, now: number): Asker {
    const { reports } = this.#at(environment, now);
    const { name, version, transport, route } = sender;
    const text = `${route} ${transport} ${version ?? ''}\n${name}`;
    return reports.find(text) ?? reports.meet(batch, text, { ...sender, ...keptName(sender) });
  }

  forget(environment: number): void {
    this.#environments.delete(environment);
  }

  #at(environment: number, now: number) {
    const slot = Math.floor(now / slotMs);
    if (slot !== this.#slot || this.#sightings > maxSightings) this.#begin(slot);
    return this.#environments.get(environment) ?? this.#open(environment);
  }

  #begin(slot: number): void {
    this.#slot = slot;
    this.#sightings = 0;
    this.#environments.clear();
  }

  #open(environment: number) {
    const onSighting = () => {
      this.#sightings += 1;
    };
    const newAsker = (sender: Sender) => new Asker(environment, this.#slot, sender, onSighting);
    const crowds = { packets: new Crowd(newAsker), reports: new Crowd(newAsker) };
    this.#environments.set(environment, crowds);
    return crowds;
  }
}

/** A sender in one environment and ten-minute period. */
export class Asker {
  readonly #environment: number;
  readonly #slot: number;
  readonly #sender: Sender;
  readonly #onSighting: () => void;
  /** Series that the sender has requested, and the first series of each of their features, which gets the mark. */
  readonly #series = new Set<number>();

  /** @param onSighting called for each new mark, to limit the number of marks */
  constructor(environment: number, slot: number, sender: Sender, onSighting: () => void) {
    this.#environment = environment;
    this.#slot = slot;
    this.#sender = sender;
    this.#onSighting = onSighting;
  }

  /** @param ref series of the feature */
  asked(feature: string, ref: number, series: EnvironmentSeries, batch: SenderSink): void {
    if (!this.#series.has(ref)) this.#meet(feature, ref, series, batch);
  }

  /** Records that the sender sent a message. */
  seen(batch: SenderSink): void {
    this.#tell(environmentOrdinal, batch);
  }

  #meet(feature: string, ref: number, series: EnvironmentSeries, batch: SenderSink): void {
    const first = series.findFirst(feature);
    const isNew = first !== undefined && !this.#series.has(first.ref);
    this.#see(ref);
    if (!isNew) return;
    this.#see(first.ref);
    this.#tell(first.ordinal, batch);
  }

  #see(ref: number): void {
    this.#series.add(ref);
    this.#onSighting();
  }

  #tell(ordinal: number, batch: SenderSink): void {
    batch.senders.push({ environment: this.#environment, ordinal, slot: this.#slot, sender: this.#sender });
  }
}

/** Maximum number and length of cached headers. */
const maxTexts = 1000;
const maxText = 300;
/** Maximum number of senders distinguished in ten minutes. The store keeps fewer. */
const maxSenders = 400;

/** Senders of packets, or of reports, in one environment. Several headers can belong to one sender. */
class Crowd {
  readonly #newAsker: (sender: Sender) => Asker;
  readonly #byText = new Map<string | undefined, Asker>();
  readonly #bySender = new Map<string, Asker>();

  constructor(newAsker: (sender: Sender) => Asker) {
    this.#newAsker = newAsker;
  }

  /** @param text the name that the sender gives itself */
  find(text: string | undefined): Asker | undefined {
    return this.#byText.get(text);
  }

  meet(batch: SenderSink, text: string | undefined, sender: Sender): Asker {
    const asker = this.#findAsker(batch, sender);
    if (this.#byText.size >= maxTexts) this.#byText.clear();
    if ((text?.length ?? 0) <= maxText) this.#byText.set(text, asker);
    return asker;
  }

  #findAsker(batch: SenderSink, sender: Sender): Asker {
    const name = JSON.stringify(sender);
    const known = this.#bySender.get(name);
    if (known !== undefined) return known;
    const other = otherSender(sender);
    if (this.#bySender.size >= maxSenders && sender.name !== other.name) return this.#findAsker(batch, other);
    const asker = this.#newAsker(sender);
    asker.seen(batch);
    this.#bySender.set(name, asker);
    return asker;
  }
}

/**
 * Name and version of a sender. Anyone can choose the headers of packets, so their senders are grouped: browsers by
 * family and major version, other programs by product and major version. Reports need a secret key, so full versions
 * are kept.
 */
type NamedSender = Pick<Sender, 'name' | 'version'>;

const nameless = 'unnamed';

export function packetSender(userAgent = ''): Sender {
  const found = userAgent.startsWith('Mozilla/')
    ? (parseBrowser(userAgent) ?? { name: unknownBrowser, version: undefined })
    : namedProduct(userAgent);
  const version = /^v?(\d{1,4})(?!\d)/.exec(found.version ?? '')?.[1] ?? null;
  return { name: found.name, version, transport: 'http', route: 'telemetry' };
}

/** @param appVersion version in the report. It takes precedence over the version in the User-Agent. */
export function reportSender(
  { transport, route }: Pick<Sender, 'transport' | 'route'>,
  userAgent = '',
  appVersion = '',
): Sender {
  const { name, version } = namedProduct(userAgent);
  return { name, version: kept(appVersion) || version, transport, route };
}

function namedProduct(userAgent: string): NamedSender {
  return keptName(parseProduct(userAgent));
}

function keptName({ name, version }: Program | NamedSender): NamedSender {
  const isName = kept(name) !== '' && kept(name) !== surplusName;
  return { name: isName ? kept(name) : nameless, version: kept(version ?? '') || null };
}

const longest = 40;

function kept(text: string): string {
  return [...ledgerText(text)].slice(0, longest).join('').trim();
}
