import { countBytes, createCounts, type Post, safely, toText } from './counts.ts';
import type { Options, Sender } from './declarations.d.ts';

/** Creates the sender of a page. @param base URL on the metrics host, used if the options have no URL */
export const createPageSender = (options: Options, base: string | undefined): Sender => {
  const { url, key, environment, instanceId, identity, seconds } = options ?? {};
  const from = { k: toText(key), e: toText(environment), i: toText(instanceId), u: toText(identity) };
  /** Total size in bytes of the requests that have no response yet. */
  let inFlight = 0;

  /** Posts entries as text, which needs no preflight. */
  const post: Post = async (entries, isLast) => {
    const f = Object.create(null);
    const m = Object.create(null);
    for (const { name, variant, values } of entries) {
      if (variant === undefined) m[name] = values[0];
      else {
        f[name] ??= Object.create(null);
        f[name][variant] = values;
      }
    }
    const body = JSON.stringify({ ...from, f, m });
    const size = countBytes(body);
    // The total size matters, because browsers limit it for requests that outlive a page (Fetch, section 4.6).
    inFlight += size;
    const keepalive = !isLast && inFlight <= 65_536;
    try {
      const to = `${url ?? new URL('.', base)}`.replace(/\/*$/, '/api/frontend/telemetry');
      // Browsers refuse beacons over their size limit. The request below, without `keepalive`, often arrives anyway.
      if (isLast && navigator.sendBeacon?.(to, body)) return { status: 202 };
      const signal = AbortSignal.timeout?.(60_000);
      return await fetch(to, { method: 'POST', body, keepalive, credentials: 'omit', signal });
    } catch {
      return undefined;
    } finally {
      inFlight -= size;
    }
  };

  // Three packets of this size fit into the limit for requests that outlive a page.
  const [sender, leave] = createCounts(post, seconds, 21_500 - countBytes(JSON.stringify(from)), 1000);

  /** Returns a listener for a page that is hidden or closed. After failures, it retries only when the page closes. */
  const leaving = (isLast: boolean) =>
    safely(() => {
      if (isLast || document.hidden) leave(isLast, isLast || !('keepalive' in Request.prototype));
    });

  safely(() => {
    addEventListener('pagehide', leaving(true));
    // The event bubbles, so this listener runs after the page's own listeners on the document.
    addEventListener('visibilitychange', leaving(false));
  })();

  return sender;
};
