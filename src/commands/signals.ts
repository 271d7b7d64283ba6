import { isatty } from 'node:tty';
import type { Terminal } from '../terminal.ts';

/** The reasons to stop or to read the TLS files again: signals of the system, and a store that failed. */
export interface Signals {
  /** Resolves with the exit code. */
  readonly toldToStop: Promise<number>;
  fail(): void;
  /** Sets what SIGHUP does; nothing at first. */
  onHangUp(action: () => void): void;
}

/** A server that was started at a terminal stops when the terminal is closed, since Ctrl-C can no longer reach it. */
export function listenToSignals({ interactive }: Terminal): Signals {
  let tell: (code: number) => void = () => {};
  const toldToStop = new Promise<number>((resolve) => {
    tell = resolve;
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => tell(0));
  let hangUp = () => {};
  const isTerminalClosed = () => interactive && !isatty(2);
  process.on('SIGHUP', () => (isTerminalClosed() ? tell(0) : hangUp()));
  return {
    toldToStop,
    fail: () => tell(1),
    onHangUp: (action) => {
      hangUp = action;
    },
  };
}
