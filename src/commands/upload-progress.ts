import type { Terminal } from '../cli/terminal.ts';
import type { Uploaded } from '../replication/log-snapshots.ts';
import { systemClock } from '../runtime/clock.ts';

const tellEveryMs = 2000;

/** Prints every few seconds how much of the usage has arrived. */
export function uploadProgress({ err }: Terminal): (uploaded: Uploaded) => void {
  let toldAt = systemClock.monotonic();
  return ({ parts, bytes }) => {
    if (systemClock.monotonic() - toldAt < tellEveryMs) return;
    toldAt = systemClock.monotonic();
    err(`usage: ${parts} parts, ${mebibytes(bytes)}, are in the engine\n`);
  };
}

/** An amount of data for people. */
export function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
