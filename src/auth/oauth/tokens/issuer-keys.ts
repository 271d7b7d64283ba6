import type { JSONWebKeySet } from 'jose';
import type { OutboundFetch } from '../../../http/outbound/fetch.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Log } from '../../../runtime/log.ts';

interface IssuerKeysDeps {
  readonly fetchFromIssuer: OutboundFetch;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Pick<Log, 'warn'>;
}

/** The keys of an issuer are read again after this time. */
const freshMs = 10 * 60_000;
/** While an issuer cannot be reached, its last keys are used for this long. */
const keptMs = 24 * 3_600_000;
/** Minimum interval between two attempts to read the keys of an issuer, whatever tokens arrive. */
const betweenMs = 30_000;
/** Maximum number of issuers with keys in memory. */
const maxIssuers = 100;

interface Entry {
  keys: JSONWebKeySet | undefined;
  readAt: number;
  triedAt: number;
  reading: Promise<void> | undefined;
}

/** The keys of the issuers that API keys trust, read by OpenID Connect Discovery (§4) and kept in memory. */
export class IssuerKeys {
  readonly #deps: IssuerKeysDeps;
  /** The least recently used issuer comes first. */
  readonly #entries = new Map<string, Entry>();

  constructor(deps: IssuerKeysDeps) {
    this.#deps = deps;
  }

  /**
   * The keys of an issuer. They are read again if they are old, or lack the key of a token, which may be new.
   * @returns `undefined` if they cannot be read
   */
  async of(issuer: string, kid: string | undefined): Promise<JSONWebKeySet | undefined> {
    const entry = this.#entryOf(issuer);
    const age = () => this.#deps.clock.monotonic() - entry.readAt;
    const isKnown = kid === undefined || entry.keys?.keys.some((key) => key.kid === kid);
    if (entry.keys === undefined || age() >= freshMs || !isKnown) await this.#read(issuer, entry);
    return age() < keptMs ? entry.keys : undefined;
  }

  #entryOf(issuer: string): Entry {
    const entry = this.#entries.get(issuer) ?? {
      keys: undefined,
      readAt: Number.NEGATIVE_INFINITY,
      triedAt: Number.NEGATIVE_INFINITY,
      reading: undefined,
    };
    this.#entries.delete(issuer);
    this.#entries.set(issuer, entry);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > maxIssuers && oldest !== undefined) this.#entries.delete(oldest);
    return entry;
  }

  /** One attempt at a time. A failure leaves the keys as they are. */
  async #read(issuer: string, entry: Entry): Promise<void> {
    const { clock, log } = this.#deps;
    if (entry.reading === undefined && clock.monotonic() - entry.triedAt < betweenMs) return;
    entry.triedAt = clock.monotonic();
    entry.reading ??= this.#fetch(issuer)
      .then(
        (keys) => {
          entry.keys = keys;
          entry.readAt = clock.monotonic();
        },
        (error) => log.warn('cannot read the keys of an issuer', { issuer, error }),
      )
      .finally(() => {
        entry.reading = undefined;
      });
    await entry.reading;
  }

  async #fetch(issuer: string): Promise<JSONWebKeySet> {
    const metadata = await this.#json(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
    if (metadata.get('issuer') !== issuer) throw new Error('its discovery document names another issuer');
    const url = metadata.get('jwks_uri');
    if (typeof url !== 'string' || !URL.canParse(url))
      throw new Error('its discovery document has no jwks_uri');
    const keys = (await this.#json(url)).get('keys');
    if (!Array.isArray(keys)) throw new Error('its key set has no keys');
    return { keys: keys.filter((key) => typeof key === 'object' && key !== null) };
  }

  async #json(url: string): Promise<ReadonlyMap<string, unknown>> {
    const answer = await this.#deps.fetchFromIssuer(url, { headers: { accept: 'application/json' } });
    if (answer.status !== 200) throw new Error(`it answered ${answer.status}`);
    const json: unknown = await answer.json();
    return new Map(Object.entries(typeof json === 'object' && json !== null ? json : {}));
  }
}
