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
}

const maxEntries = 1000;
/** Names have 256 bytes, and JSON escapes some. */
const longestId = 1100;
/** Identities have 256 characters, which may take two units each. */
const longestText = 512;
const largestCount = 2147483647;

/** Bytes of requests that may outlive a page: browsers refuse the rest (Fetch, section 4.6). */
const keptAliveBytes = 65_536;

/** Bytes of a packet. Three of them may outlive a page. */
const packetBytes = 21_500;

const longestPauseSeconds = 300;

/** `setTimeout` has no longer delays. */
const longestDelayMs = 2147483647;

/** How long an answer may take. */
const answerMs = 60_000;

/** Makes a sender: see declarations.d.ts. */
export const flagmeter: typeof Declared = (options) => {
  const { url, key, environment, instanceId, identity, seconds } = options ?? {};
  const from = { k: textOf(key), e: textOf(environment), i: textOf(instanceId), u: textOf(identity) };
  const everySeconds = Math.max(1, Number(textOf(seconds)) || 10);
  const waiting = new Map<string, Entry>();
  /** Of `waiting`, about. */
  let bytes = 0;
  let largest = packetBytes;
  /** Bytes that the browser keeps alive. */
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

  /** Takes the oldest entries that a packet holds. */
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

  /** Sends a packet. Resolves with the number of entries that were answered; `undefined` when the server takes none now. */
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
      console.warn(`flagmeter: ${to()} answered ${status}, so counts are lost`);
    }
    return isLater ? undefined : isTooLarge ? 0 : taken.length;
  };

  /** The address of this script tells that of the host. */
  const to = () => `${url ?? new URL('.', import.meta.url).href}`.replace(/\/*$/, '/api/frontend/telemetry');

  /** Gives the status of the answer; 0 without one. Text needs no preflight. */
  const post = async (body: string, isLast?: boolean): Promise<number> => {
    const size = bytesOf(body);
    const keepalive = !isLast && keptAlive + size <= keptAliveBytes;
    if (keepalive) keptAlive += size;
    try {
      // Beacons over the browser's limit are refused. A request that is not kept alive often arrives all the same.
      if (isLast && navigator.sendBeacon?.(to(), body)) return 202;
      const signal = AbortSignal.timeout?.(answerMs);
      return (await fetch(to(), { method: 'POST', body, keepalive, credentials: 'omit', signal })).status;
    } catch {
      return 0;
    } finally {
      if (keepalive) keptAlive -= size;
    }
  };

  /** Resolves when all that waited at the start is answered, or the server takes none now. */
  const sendAll = async () => {
    clearTimeout(timer);
    timer = undefined;
    for (let left = waiting.size; left > 0 && waiting.size; ) left -= (await send()) ?? left;
  };

  const flush = () => after(sending ? sending.then(sendAll) : sendAll());

  /** What is counted meanwhile is sent after it. */
  const after = (work: Promise<unknown>) => {
    const all = Promise.all([sending, work]).then(() => {
      if (sending !== all) return;
      sending = undefined;
      if (waiting.size) plan();
    });
    sending = all;
    return all;
  };

  /** Sends everything at once, because the page may close after this. After failures it tries again only when the page is closed. */
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
    // It bubbles, so this comes after the page's own listeners of the document.
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

/** The text of a value; `undefined` of what has none that the server takes. */
function textOf(value: unknown): string | undefined {
  const isNone = value == null || Number.isNaN(value) || /^(o|f|sy)/.test(typeof value);
  const text = isNone ? '' : `${value}`;
  return text.length > longestText ? undefined : text || undefined;
}

/** Bytes of an entry in a packet, at most. */
function sizeOf({ name, variant, values }: Entry): number {
  return bytesOf(JSON.stringify([name, variant, values])) + 2;
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

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
