/** Maximum length of a request's head, bytes: 431 above. */
export const maxHead = 16 * 1024;

/**
 * Maximum length of a declared body that may rely on the engine's own idle timeout, which wants the end of the body in time:
 * at 4 kB/s it takes 16 s.
 */
export const briefBody = 64 * 1024;

/**
 * How long, and how many bytes, a client may go on sending after a 413 before its connection is closed. Closing at once
 * would reset the connection, and a client that is still writing could lose the reply (RFC 9112 §9.6).
 */
export const linger = { milliseconds: 1_000, bytes: 16 * 1024 * 1024 };
