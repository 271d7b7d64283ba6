/** Maximum length of a request's head in bytes. A longer head gets 431. */
export const maxHead = 16 * 1024;

/**
 * Maximum length of a declared body that may rely on the engine's own idle timeout, which requires the whole body in time. At 4
 * kB/s it takes 16 s.
 */
export const briefBody = 64 * 1024;

/**
 * Time and bytes for which a client may keep sending after a 413 before its connection is closed. Closing at once would reset
 * the connection, and a client that is still writing could lose the reply (RFC 9112 §9.6).
 */
export const linger = { milliseconds: 1_000, bytes: 16 * 1024 * 1024 };
