/** What both engines hold their clients to. */

/** Most bytes of a request's head: 431 above. */
export const maxHead = 16 * 1024;

/**
 * Most bytes of a declared body for which an engine's own idle timeout is enough, which wants the end of the body in time:
 * at 4 kB/s it takes 16 s.
 */
export const briefBody = 64 * 1024;

/**
 * How long and for how many bytes a client that was answered 413 may go on sending before the connection is closed.
 * Closing at once would reset the connection and could take the answer away from a client that is still writing
 * (RFC 9112 §9.6).
 */
export const linger = { milliseconds: 1_000, bytes: 16 * 1024 * 1024 };
