import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Terminal } from './command.ts';
import { type Person, personAt } from './prompt.ts';

/** The environment of the commands that talk to a server. */
export interface Context extends Terminal {
  /** `now` returns Unix milliseconds; `monotonic` returns milliseconds from an arbitrary origin. */
  readonly clock: { now(): number; monotonic(): number };
  readonly randomBytes: (length: number) => Buffer;
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly sleep: (ms: number) => Promise<unknown>;
  /** The person at the terminal; `undefined` in a script. */
  readonly person: Person | undefined;
  /** True if standard output supports bold type and colours. */
  readonly styled: boolean;
  /** Columns of the terminal; `undefined` if standard output is not a terminal. */
  readonly width: number | undefined;
  /** Resolves once standard output is drained, so that long output does not pile up in memory. */
  readonly drained: () => Promise<unknown>;
  /** Returns false if no browser can be opened. */
  readonly openBrowser: (url: string) => boolean;
}

export function createContext(terminal: Terminal | Context): Context {
  if ('clock' in terminal) return terminal;
  const { stdin, stdout } = process;
  return {
    ...terminal,
    clock: { now: () => Date.now(), monotonic: () => performance.now() },
    randomBytes,
    fetch: (url, init) => fetch(url, init),
    sleep,
    person: stdin.isTTY ? personAt(stdin, terminal.err) : undefined,
    styled: stdout.isTTY === true && !terminal.env['NO_COLOR'] && terminal.env['TERM'] !== 'dumb',
    width: stdout.isTTY === true && stdout.columns > 0 ? stdout.columns : undefined,
    drained: async () => stdout.writableNeedDrain && once(stdout, 'drain'),
    openBrowser: (url) => openBrowser(url, terminal.env),
  };
}

/** Starts the browser that `BROWSER` names, or the default browser of the desktop. */
function openBrowser(url: string, env: Terminal['env']): boolean {
  const desktop = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const hasDesktop = process.platform === 'darwin' || env['DISPLAY'] || env['WAYLAND_DISPLAY'];
  const command = env['BROWSER'] || (hasDesktop ? desktop : undefined);
  if (command === undefined) return false;
  spawn(command, [url], { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref();
  return true;
}
