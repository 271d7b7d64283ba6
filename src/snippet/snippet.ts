import type { flagmeter as Declared } from './declarations.d.ts';

/*
 * The sender for pages, served as `snippet.js`: small, because every visitor loads it. Counts of the same variant add up, so what
 * waits is bounded by the number of names, however long the server cannot be reached.
 */

/** What waits for one variant of a feature, or for a metric, which has no variant. */
interface Entry {
  readonly name: string;
  readonly variant: string | undefined;
  /** Checks, uses and views; of a metric its value. */
  values: readonly number[];
  /** Whether later values are added to these; otherwise they replace them. */
  readonly isSum: boolean;
  /** What it takes in a packet, at most. */
  readonly bytes: number;
}

const maxEntries = 1000;
const longestName = 256;
const largestCount = 2147483647;

/** Bytes of a packet. Browsers let 64 KiB be on their way while a page closes: one packet that is, and one that follows. */
const packetBytes = 28_000;

const longestPauseSeconds = 300;

/** How long an answer may take. */
const answerMs = 60_000;

/** Makes a sender: see declarations.d.ts. */
export const flagmeter: typeof Declared = (options) => {
  const { url, key: k, environment: e, instanceId: i, identity: u, seconds } = options ?? {};
  const everySeconds = Math.max(1, seconds || 10);
  const waiting = new Map<string, Entry>();
  let bytes = 0;
  let failures = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let sending: Promise<void> | undefined;
  let hasWarned = false;

  /** @param isOld whether the values are of before those that wait */
  const put = (
    name: string,
    variant: string | undefined,
    values: readonly number[],
    isSum: boolean,
    isOld?: boolean,
  ) => {
    const id = variant === undefined ? name : `${name}\n${variant}`;
    const own = waiting.get(id);
    if (own) {
      if (isSum) own.values = own.values.map((value, at) => add(value, values[at]!, variant));
      else if (!isOld) own.values = values;
    } else if (waiting.size < maxEntries && id.length < 2 * longestName) {
      const entry = { name, variant, values, isSum, bytes: encodeURIComponent(id).length + 50 };
      waiting.set(id, entry);
      bytes += entry.bytes;
    }
    if (bytes > packetBytes && !failures) flush();
    else plan();
  };

  const plan = () => {
    const pause = failures
      ? Math.min(longestPauseSeconds, everySeconds * 2 ** failures) * (0.5 + Math.random())
      : everySeconds;
    timer ??= setTimeout(flush, pause * 1000);
  };

  /** Takes as much as a packet holds, and sends it. Resolves with how many entries that were; 0 when they wait again. */
  const send = async (isLast?: boolean) => {
    const f = Object.create(null);
    const m = Object.create(null);
    const taken: Entry[] = [];
    let room = packetBytes;
    for (const [id, entry] of waiting) {
      room -= entry.bytes;
      if (room < 0) break;
      waiting.delete(id);
      bytes -= entry.bytes;
      taken.push(entry);
      const { name, variant, values } = entry;
      if (variant === undefined) m[name] = values[0];
      else {
        f[name] ??= Object.create(null);
        f[name][variant] = values;
      }
    }
    const status = await post({ k, e, f, m, i, u }, isLast);
    const isLater = !status || status === 429 || status > 499;
    failures = isLater ? failures + 1 : 0;
    if (isLater)
      for (const { name, variant, values, isSum } of taken) put(name, variant, values, isSum, true);
    else if (status > 299 && !hasWarned) {
      hasWarned = true;
      console.warn(`flagmeter: ${to()} answered ${status}, so counts are lost`);
    }
    return isLater ? 0 : taken.length;
  };

  /** The address of this script tells that of the host. */
  const to = () => (url ?? new URL('.', import.meta.url).href).replace(/\/*$/, '/api/frontend/telemetry');

  /** Gives the status of the answer; 0 without one. Text needs no preflight. */
  const post = (packet: unknown, isLast?: boolean): Promise<number> | number => {
    try {
      const body = JSON.stringify(packet);
      if (!globalThis.fetch || (isLast && !('keepalive' in Request.prototype)))
        return navigator.sendBeacon(to(), body) ? 202 : 0;
      const signal = AbortSignal.timeout?.(answerMs);
      const sent = fetch(to(), { method: 'POST', body, keepalive: true, credentials: 'omit', signal });
      return sent.then(
        ({ status }) => status,
        () => 0,
      );
    } catch {
      return 0;
    }
  };

  const flush = () => {
    sending ??= sendAll().finally(() => {
      sending = undefined;
      if (waiting.size) plan();
    });
    return sending;
  };

  const sendAll = async () => {
    clearTimeout(timer);
    timer = undefined;
    for (let left = waiting.size, sent = 1; left > 0 && sent; left -= sent) sent = await send();
  };

  /** The page may close after this. While the server has no room, it is asked for some once more at the very end. */
  const leave = ({ type }: Event) => {
    if (waiting.size && (!failures || type === 'pagehide')) void send(true);
  };

  const counter = (values: readonly number[]) =>
    safely((feature: string, variant: string) => put(`${feature}`, `${variant}`, values, true));
  const metric = (isSum: boolean) =>
    safely((name: string, value: number = 1) => {
      if (Number.isFinite(value)) put(`${name}`, undefined, [value], isSum);
    });

  safely(() => {
    addEventListener('pagehide', leave);
    document.addEventListener('visibilitychange', (event) => document.hidden && leave(event));
  })();

  return {
    checked: counter([1, 0, 0]),
    used: counter([0, 1, 0]),
    viewed: counter([0, 0, 1]),
    add: metric(true),
    set: metric(false),
    flush,
  };
};

/** A sum that the server takes. */
function add(a: number, b: number, variant: string | undefined): number {
  const sum = a + b;
  if (variant !== undefined) return Math.min(sum, largestCount);
  return Number.isFinite(sum) ? sum : a;
}

/** A page must not fail because it is counted. */
function safely<Arguments extends unknown[]>(
  act: (...given: Arguments) => unknown,
): (...given: Arguments) => void {
  return (...given) => {
    try {
      act(...given);
    } catch {}
  };
}
