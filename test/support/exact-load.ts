import { type CountedRequest, Digits } from '../../chaos/clients/digits.ts';
import { manage, type StartedProcess, token } from './binary.ts';
import { openSender } from './packet-sender.ts';
import { readChecks, type Shop } from './shop.ts';

/** Number of additional features in a large packet. Thirty of these packets fill 1 MiB of the journal. */
const manyFeatures = 1000;
const many = Object.fromEntries(Array.from({ length: manyFeatures }, (_, at) => [`many-${at}`, { on: [1] }]));

interface Exposures {
  readonly exposures: readonly { readonly feature: string; readonly checks: number }[];
}

/** Checks by feature, from the usage report and from the exposures of users. The two are folded separately. */
export interface CountedChecks {
  readonly checks: ReadonlyMap<string, number>;
  readonly exposures: ReadonlyMap<string, number>;
}

/** Packets that a sum of checks identifies: see `Digits`. The application must accept identities of clients. */
export class ExactLoad {
  readonly #features = new Map<string, { readonly digits: Digits; readonly user: string | undefined }>();
  /** Number of large packets that were sent, and number that were accepted. */
  readonly large = { sent: 0, accepted: 0 };
  /** Returns the time at which an accepted packet is recorded, in arbitrary units. */
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Number of accepted packets. */
  get accepted(): number {
    return this.#listRequests().filter(({ outcome }) => outcome === 'accepted').length;
  }

  /**
   * Sends packets one after another over one connection. A response can end the sending.
   * @param user user in the packets; packets without a user have many features
   * @returns the status of the last packet
   */
  async send(
    { metrics }: Pick<StartedProcess, 'metrics'>,
    { key }: Pick<Shop, 'key'>,
    name: string,
    user: string | undefined,
    goesOn: (status: number | undefined) => boolean = (status) => status === 202,
  ): Promise<number | undefined> {
    const sender = openSender(metrics);
    const isLarge = user === undefined;
    for (let block = 0; ; block += 1) {
      const feature = `${name}-${block}`;
      const digits = new Digits();
      this.#features.set(feature, { digits, user });
      while (!digits.isFull) {
        const request = digits.next();
        const f = { ...(isLarge && many), [feature]: { on: [request.count] } };
        this.large.sent += Number(isLarge);
        const status = await sender.send({ k: key, e: 'Production', u: user, f });
        this.#settle(request, status, isLarge);
        if (goesOn(status)) continue;
        sender.close();
        return status;
      }
    }
  }

  #settle(request: CountedRequest, status: number | undefined, isLarge: boolean): void {
    request.outcome = status === 202 ? 'accepted' : status === undefined ? 'unknown' : 'refused';
    request.at = this.#now();
    this.large.accepted += Number(isLarge && status === 202);
  }

  /**
   * Lists accepted packets that are missing in the counts, or counted more than once.
   * @param through only packets accepted before this time must be counted
   */
  faults({ checks, exposures }: CountedChecks, through?: number): string[] {
    const faults = [...this.#features].flatMap(([feature, { digits, user }]) => {
      const sum = checks.get(feature) ?? 0;
      const exposed = user === undefined ? sum : (exposures.get(feature) ?? 0);
      const others = exposed === sum ? [] : [`${sum} is counted, and ${exposed} in exposures`];
      return [...digits.faults(sum, through), ...others].map((fault) => `${feature}: ${fault}`);
    });
    const [first = 0, ...others] = Object.keys(many).map((feature) => checks.get(feature) ?? 0);
    if (others.some((count) => count !== first)) faults.push('a large packet is counted in parts');
    if (first > this.large.sent || (through === undefined && first < this.large.accepted))
      faults.push(`${first} large packets are counted, ${this.large.accepted} were accepted`);
    return faults;
  }

  /** Allows refused packets to be counted. The disk can fail before the packets are invalidated. */
  doubtRefused(): void {
    for (const request of this.#listRequests()) if (request.outcome === 'refused') request.outcome = 'unknown';
  }

  /** Treats these counts as correct. Any later change of them is a fault. */
  settle({ checks }: CountedChecks): void {
    for (const [feature, { digits }] of this.#features) digits.settle(checks.get(feature) ?? 0);
    this.large.sent = this.large.accepted = checks.get('many-0') ?? 0;
  }

  /** Reads the counts from the service. */
  async read(http: string, shop: Omit<Shop, 'key'>): Promise<CountedChecks> {
    const access = await token(http, shop.credentials);
    const exposures = new Map<string, number>();
    for (const user of new Set([...this.#features.values()].map((each) => each.user))) {
      if (user === undefined) continue;
      const path = `/api/v2/applications/${shop.application}/identities/${user}/exposures?environment=Production`;
      const response = (await manage(http, access, 'GET', path, 200)) as Exposures;
      for (const { feature, checks } of response.exposures) exposures.set(feature, checks);
    }
    return { checks: await readChecks(http, shop), exposures };
  }

  #listRequests(): CountedRequest[] {
    return [...this.#features.values()].flatMap(({ digits }) => digits.requests);
  }
}

export async function acceptIdentities(http: string, { credentials, application }: Shop): Promise<void> {
  const access = await token(http, credentials);
  const change = { acceptClientIdentities: true };
  await manage(http, access, 'PATCH', `/api/v2/applications/${application}`, 200, change);
}
