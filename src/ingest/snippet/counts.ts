import type { Sender } from './declarations.d.ts';

/*
 * Counts events and sends them at intervals, on a page (page.ts) or a server (clients/openfeature). Counts of the same
 * variant are added up, so the number of names limits the pending entries, even if the server is unreachable for long.
 */

/** Pending counts of a feature's variant, or the value of a metric. */
export interface Entry {
  readonly name: string;
  readonly variant?: string;
  /** Checks, uses and views, or the value of a metric. */
  values: readonly number[];
  /** True if later values are added to `values`; false if later values replace `values`. */
  readonly isSum: boolean;
  /**
   * Number of the message that has these values, if `post` repeats messages unchanged. A retry then sends the same
   * entries, and later values are separate entries.
   */
  message?: number | undefined;
}

/** A response of the server. */
export interface ServerResponse {
  readonly status: number;
  readonly url?: string;
}

/**
 * Sends entries. Resolves with `undefined` if there is no response; never rejects.
 * @param isLast true if the page closes
 */
export type Post = (entries: readonly Entry[], isLast?: boolean) => Promise<ServerResponse | undefined>;

/** Sends all entries immediately. After failures, it sends entries only if `isLast` is true. */
type Leave = (isLast: boolean, isBeacon: boolean) => void;

/** Maximum length of an entry's id. Names have at most 256 bytes, and JSON escapes some. */
const longestId = 1100;
/** Maximum length of a text. Identities have at most 256 characters of up to two UTF-16 code units. */
const longestText = 512;
const largestCount = 2147483647;

const longestPauseSeconds = 300;

const longestDelayMs = 2147483647;

/**
 * Creates a sender whose messages `post` sends.
 * @param seconds interval between messages (default 10)
 * @param largest approximate maximum size of a message
 * @param setTimer starts a timer that `clearTimeout` stops
 */
export const createCounts = (
  post: Post,
  seconds: unknown,
  largest: number,
  maxEntries: number,
  setTimer: (act: () => unknown, ms: number) => ReturnType<typeof setTimeout> = setTimeout,
): [Sender, Leave] => {
  const everySeconds = Math.max(1, Number(toText(seconds)) || 10);
  const waiting = new Map<string, Entry>();
  /** Approximate size of `waiting`. */
  let bytes = 0;
  let failures = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let sending: Promise<void> | undefined;
  let hasWarned = false;

  const put = (entry: Entry) => {
    const { name, variant, values, isSum, message } = entry;
    const id = JSON.stringify([name, variant, message]);
    const own = waiting.get(id);
    if (own) own.values = isSum ? own.values.map((value, at) => add(value, values[at]!, variant)) : values;
    else if (waiting.size < maxEntries && id.length < longestId) {
      waiting.set(id, entry);
      bytes += estimateSize(id);
    }
    scheduleSend();
  };

  const scheduleSend = () => {
    const pause = failures
      ? Math.min(longestPauseSeconds, everySeconds * 2 ** failures) * (0.5 + Math.random())
      : everySeconds;
    if (bytes > largest && !failures && !sending) void flush();
    else timer ??= setTimer(flush, Math.min(longestDelayMs, pause * 1000));
  };

  /**
   * Sends the oldest entries that fit into a message. Resolves with the number of entries that got a response;
   * `undefined` if the server is unavailable.
   */
  const send = async (isBeacon?: boolean) => {
    const before = failures;
    const taken: Entry[] = [];
    let size = 0;
    for (const [id, entry] of waiting) {
      const own = estimateSize(id);
      if (taken.length && (size + own > largest || entry.message !== taken[0]!.message)) break;
      size += own;
      waiting.delete(id);
      taken.push(entry);
    }
    bytes -= size;
    const response = await post(taken, isBeacon);
    const status = response?.status;
    const isTooLarge = status === 413 && taken.length > 1;
    const isLater = !status || status === 429 || status > 499;
    failures = isLater ? before + 1 : 0;
    if (isTooLarge) largest = Math.min(largest, size) / 2;
    if (isTooLarge || isLater) {
      const newer = [...waiting.values()];
      waiting.clear();
      bytes = 0;
      for (const entry of [...taken, ...newer]) put(entry);
    } else if (status > 299 && !hasWarned) {
      hasWarned = true;
      console.warn(`flagmeter: ${response!.url}: status ${status}; counts are lost`);
    }
    return isLater ? undefined : isTooLarge ? 0 : taken.length;
  };

  /** Sends all waiting entries. Resolves when each of them got a response, or the server is unavailable. */
  const sendAll = async () => {
    clearTimeout(timer);
    timer = undefined;
    for (let left = waiting.size; left > 0 && waiting.size; ) left -= (await send()) ?? left;
  };

  const flush = () => after(sending ? sending.then(sendAll) : sendAll());

  const after = (work: Promise<unknown>) => {
    const all = Promise.all([sending, work]).then(() => {
      if (sending === all) sending = undefined;
      if (!sending && waiting.size) scheduleSend();
    });
    sending = all;
    return all;
  };

  const counter = (values: readonly number[]) =>
    safely((feature: string, variant: string) =>
      put({ name: `${feature}`, variant: `${variant}`, values, isSum: true }),
    );
  const metric = (isSum: boolean) =>
    safely((name: string, value: number = 1) => {
      if (Number.isFinite(value)) put({ name: `${name}`, values: [value], isSum });
    });

  const leave: Leave = (isLast, isBeacon) => {
    if (isLast || !failures) while (waiting.size) void after(send(isBeacon));
  };

  return [
    {
      checked: counter([1, 0, 0]),
      used: counter([0, 1, 0]),
      viewed: counter([0, 0, 1]),
      add: metric(true),
      set: metric(false),
      flush,
    },
    leave,
  ];
};

/** Returns the text of a value; `undefined` if the server would not accept it. */
export function toText(value: unknown): string | undefined {
  const isText = /^(st|n|b)/.test(typeof value) && !Number.isNaN(value);
  const text = isText ? `${value}` : '';
  return text.length > longestText ? undefined : text || undefined;
}

/** Returns the approximate size of an entry in a message: its names and values. */
function estimateSize(id: string): number {
  return countBytes(id) + 16;
}

/** Returns the length of a text in UTF-8. */
export function countBytes(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** Returns a sum, limited to the maximum that the server accepts. */
function add(a: number, b: number, variant: string | undefined): number {
  const sum = variant === undefined ? a + b : Math.min(a + b, largestCount);
  return Number.isFinite(sum) ? sum : a;
}

/** Wraps a function so that errors in counting do not break the program that counts. */
export function safely<Arguments extends unknown[]>(
  act: (...given: Arguments) => unknown,
): (...given: Arguments) => void {
  return (...given) => {
    try {
      act(...given);
    } catch {}
  };
}
