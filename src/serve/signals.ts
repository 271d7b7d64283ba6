import { isatty } from 'node:tty';
import type { Terminal } from '../cli/terminal.ts';

/** The reasons to stop or to read the TLS files again: signals of the system, and a store that failed. */
export interface Signals {
  /** Resolves with the exit code. */
  readonly toldToStop: Promise<number>;
  /** Resolves with the exit code when there is one more reason. */
  readonly toldAgain: Promise<number>;
  fail(): void;
  /** Sets what SIGHUP does; nothing at first. */
  onHangUp(action: () => void): void;
}

/** A server that was started at a terminal stops when the terminal is closed, since Ctrl-C can no longer reach it. */
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
