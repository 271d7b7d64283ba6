import { isatty } from 'node:tty';
import type { Terminal } from '../cli/terminal.ts';

/** Signals to stop or to reload, from the system or a failed store. */
export interface Signals {
  /** Resolves with the exit code on the first reason to stop. */
  readonly toldToStop: Promise<number>;
  /** Resolves with the exit code on the second reason to stop. */
  readonly toldAgain: Promise<number>;
  fail(): void;
  /** Sets the action of SIGHUP. */
  onHangUp(action: () => void): void;
}

/** A server at a terminal stops when the terminal closes, since Ctrl-C can no longer reach it. */
export function listenToSignals({ interactive }: Terminal): Signals {
  const tells: ((code: number) => void)[] = [];
  const told = () => new Promise<number>((resolve) => tells.push(resolve));
  const [toldToStop, toldAgain] = [told(), told()];
  const tell = (code: number) => tells.shift()?.(code);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => tell(0));
  let hangUp = () => {};
  const isTerminalClosed = () => interactive && !isatty(2);
  process.on('SIGHUP', () => (isTerminalClosed() ? tell(0) : hangUp()));
  return {
    toldToStop,
    toldAgain,
    fail: () => tell(1),
    onHangUp: (action) => {
      hangUp = action;
    },
  };
}
