import { bytesOf, createCounts, type Post, safely, textOf } from './counts.ts';
import type { Options, Sender } from './declarations.d.ts';

/** Creates the sender of a page. @param ownUrl URL of the metrics host if the options have none */
export const createPageSender = (options: Options, ownUrl: () => string): Sender => {
  const { url, key, environment, instanceId, identity, seconds } = options ?? {};
  const from = { k: textOf(key), e: textOf(environment), i: textOf(instanceId), u: textOf(identity) };
  /** Bytes of requests with `keepalive`. */
  let keptAlive = 0;

  /** Text needs no preflight. */
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
    const size = bytesOf(body);
    // The limit of browsers for requests that outlive a page (Fetch, section 4.6).
    const keepalive = !isLast && keptAlive + size <= 65_536;
    if (keepalive) keptAlive += size;
    try {
      const to = `${url ?? ownUrl()}`.replace(/\/*$/, '/api/frontend/telemetry');
      // Browsers refuse beacons over their limit. A request without `keepalive` often arrives anyway.
      if (isLast && navigator.sendBeacon?.(to, body)) return { status: 202 };
      const signal = AbortSignal.timeout?.(60_000);
      return await fetch(to, { method: 'POST', body, keepalive, credentials: 'omit', signal });
    } catch {
      return undefined;
    } finally {
      if (keepalive) keptAlive -= size;
    }
  };

  // Three packets may outlive a page.
  const [sender, leave] = createCounts(post, seconds, 21_500 - bytesOf(JSON.stringify(from)), 1000);

  /** The page may close after this. After failures it retries only when the page closes. */
  const onLeave = safely(({ type }: Event) => {
    const isLast = type === 'pagehide';
    leave(isLast, isLast || !('keepalive' in Request.prototype));
  });

  safely(() => {
    addEventListener('pagehide', onLeave);
    // The event bubbles, so this runs after the page's own listeners on the document.
    addEventListener('visibilitychange', (event) => document.hidden && onLeave(event));
  })();

  return sender;
};
