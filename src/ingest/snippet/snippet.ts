import type { flagmeter as Declared } from './declarations.d.ts';

/*
 * The sender for pages, served as `snippet.js`: small, because every visitor loads it. Counts of the same variant are added up.
 * The number of names limits the pending entries, however long the server is unreachable.
 */

/** The pending counts of a feature's variant, or the value of a metric, which has no variant. */
interface Entry {
  readonly name: string;
  readonly variant: string | undefined;
  /** Checks, uses and views; for a metric its value. */
  values: readonly number[];
  /** Whether later values are added to these or replace them. */
  readonly isSum: boolean;
}

const maxEntries = 1000;
/** Names have at most 256 bytes, and JSON escapes some. */
const longestId = 1100;
/** Identities have at most 256 characters of up to two UTF-16 code units. */
const longestText = 512;
const largestCount = 2147483647;

/** Limit of browsers for requests that outlive a page (Fetch, section 4.6). */
const keptAliveBytes = 65_536;

/** Maximum packet size. Three packets may outlive a page. */
const packetBytes = 21_500;

const longestPauseSeconds = 300;

const longestDelayMs = 2147483647;

/** Request timeout. */
const answerMs = 60_000;

/** Creates a sender: see declarations.d.ts. */
export const flagmeter: typeof Declared = (options) => {
  const { url, key, environment, instanceId, identity, seconds } = options ?? {};
  const from = { k: textOf(key), e: textOf(environment), i: textOf(instanceId), u: textOf(identity) };
  const everySeconds = Math.max(1, Number(textOf(seconds)) || 10);
  const waiting = new Map<string, Entry>();
  /** Approximate size of `waiting`. */
  let bytes = 0;
  let largest = packetBytes;
  /** Bytes of requests with `keepalive`. */
  let keptAlive = 0;
  let failures = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let sending: Promise<void> | undefined;
  let hasWarned = false;

  const put = ({ name, variant, values, isSum }: Entry) => {
    const id = JSON.stringify([name, variant]);
    const own = waiting.get(id);
    if (own) own.values = isSum ? own.values.map((value, at) => add(value, values[at]!, variant)) : values;
    else if (waiting.size < maxEntries && id.length < longestId) {
      const entry = { name, variant, values, isSum };
      waiting.set(id, entry);
      bytes += sizeOf(entry);
    }
    plan();
  };

  const plan = () => {
    if (bytes > largest && !failures && !sending) {
      void flush();
      return;
    }
    const pause = failures
      ? Math.min(longestPauseSeconds, everySeconds * 2 ** failures) * (0.5 + Math.random())
      : everySeconds;
    timer ??= setTimeout(flush, Math.min(longestDelayMs, pause * 1000));
  };

  /** Removes the oldest entries that fit into a packet. */
  const take = () => {
    const f = Object.create(null);
    const m = Object.create(null);
    const taken: Entry[] = [];
    let room = largest - bytesOf(JSON.stringify(from));
    for (const [id, entry] of waiting) {
      const size = sizeOf(entry);
      if (taken.length && size > room) break;
      room -= size;
      bytes -= size;
      waiting.delete(id);
      taken.push(entry);
      const { name, variant, values } = entry;
      if (variant === undefined) m[name] = values[0];
      else {
        f[name] ??= Object.create(null);
        f[name][variant] = values;
      }
    }
    bytes = waiting.size && bytes;
    return { taken, body: JSON.stringify({ ...from, f, m }) };
  };

  /** Sends a packet. Resolves with the number of entries answered; `undefined` if the server is unavailable. */
  const send = async (isLast?: boolean) => {
    const before = failures;
    const { taken, body } = take();
    const status = await post(body, isLast);
    const isTooLarge = status === 413 && taken.length > 1;
    const isLater = !status || status === 429 || status > 499;
    failures = isLater ? before + 1 : 0;
    if (isTooLarge) largest = Math.min(largest, body.length) / 2;
    if (isTooLarge || isLater) {
      const newer = [...waiting.values()];
      waiting.clear();
      bytes = 0;
      for (const entry of [...taken, ...newer]) put(entry);
    } else if (status > 299 && !hasWarned) {
      hasWarned = true;
      console.warn(`flagmeter: ${to()} answered ${status}; counts are lost`);
    }
    return isLater ? undefined : isTooLarge ? 0 : taken.length;
  };

  /** The host of this script by default. */
  const to = () => `${url ?? new URL('.', import.meta.url).href}`.replace(/\/*$/, '/api/frontend/telemetry');

  /** Resolves with the status of the answer; 0 without one. Text needs no preflight. */
  const post = async (body: string, isLast?: boolean): Promise<number> => {
    const size = bytesOf(body);
    const keepalive = !isLast && keptAlive + size <= keptAliveBytes;
    if (keepalive) keptAlive += size;
    try {
      // Browsers refuse beacons over their limit. A request without `keepalive` often arrives anyway.
      if (isLast && navigator.sendBeacon?.(to(), body)) return 202;
      const signal = AbortSignal.timeout?.(answerMs);
      return (await fetch(to(), { method: 'POST', body, keepalive, credentials: 'omit', signal })).status;
    } catch {
      return 0;
    } finally {
      if (keepalive) keptAlive -= size;
    }
  };

  /** Resolves when all initial entries are answered, or the server is unavailable. */
  const sendAll = async () => {
    clearTimeout(timer);
    timer = undefined;
    for (let left = waiting.size; left > 0 && waiting.size; ) left -= (await send()) ?? left;
  };

  const flush = () => after(sending ? sending.then(sendAll) : sendAll());

  const after = (work: Promise<unknown>) => {
    const all = Promise.all([sending, work]).then(() => {
      if (sending !== all) return;
      sending = undefined;
      if (waiting.size) plan();
    });
    sending = all;
    return all;
  };

  /** Sends everything at once, because the page may close after this. After failures it retries only when the page closes. */
  const leave = safely(({ type }: Event) => {
    const isLast = type === 'pagehide';
    if (isLast || !failures)
      while (waiting.size) void after(send(isLast || !('keepalive' in Request.prototype)));
  });

  const counter = (values: readonly number[]) =>
    safely((feature: string, variant: string) =>
      put({ name: `${feature}`, variant: `${variant}`, values, isSum: true }),
    );
  const metric = (isSum: boolean) =>
    safely((name: string, value: number = 1) => {
      if (Number.isFinite(value)) put({ name: `${name}`, variant: undefined, values: [value], isSum });
    });

  safely(() => {
    addEventListener('pagehide', leave);
    // The event bubbles, so this runs after the page's own listeners on the document.
    addEventListener('visibilitychange', (event) => document.hidden && leave(event));
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

/** The text of a value; `undefined` if the server would not accept one. */
function textOf(value: unknown): string | undefined {
  const isNone = value == null || Number.isNaN(value) || /^(o|f|sy)/.test(typeof value);
  const text = isNone ? '' : `${value}`;
  return text.length > longestText ? undefined : text || undefined;
}

function sizeOf({ name, variant, values }: Entry): number {
  return bytesOf(JSON.stringify([name, variant, values])) + 2;
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** A sum within the limits of the server. */
function add(a: number, b: number, variant: string | undefined): number {
  const sum = a + b;
  if (variant !== undefined) return Math.min(sum, largestCount);
  return Number.isFinite(sum) ? sum : a;
}

/** Errors in counting must not break the page. */
function safely<Arguments extends unknown[]>(
  act: (...given: Arguments) => unknown,
): (...given: Arguments) => void {
  return (...given) => {
    try {
      act(...given);
    } catch {}
  };
}
