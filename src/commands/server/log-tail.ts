import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { readable } from '../../runtime/files.ts';

const mostLines = 1000;
const mostBytes = 1024 * 1024;

/** Name of the systemd unit that the packages install. */
const unit = 'flagmeter';

/**
 * Reads the latest lines of the log of a server: a file, or the journal of systemd.
 * @returns `undefined` without a file and without systemd
 * @throws {Error} if the log cannot be read
 */
export function readLogTail(file: string | undefined): string | undefined {
  if (file !== undefined) return keepLogLines(readable(file, () => readEnd(file)));
  if (!existsSync('/run/systemd/system')) return undefined;
  const args = ['--unit', unit, '--lines', String(mostLines), '--no-pager', '--quiet', '--output', 'cat'];
  const { error, status, stdout, stderr } = spawnSync('journalctl', args, { encoding: 'utf8', timeout: 10_000 });
  if (error || status !== 0) throw new Error(`Cannot read the journal of ${unit}: ${error?.message ?? stderr.trim()}`);
  return keepLogLines(stdout);
}

/** Reads the end of a file, from the beginning of a line. */
function readEnd(file: string): string {
  const descriptor = openSync(file, 'r');
  try {
    const { size } = fstatSync(descriptor);
    const bytes = Buffer.alloc(Math.min(size, mostBytes));
    const length = readSync(descriptor, bytes, 0, bytes.length, size - bytes.length);
    const text = bytes.toString('utf8', 0, length);
    return size > mostBytes ? text.slice(text.indexOf('\n') + 1) : text;
  } finally {
    closeSync(descriptor);
  }
}

/** The beginning of a line in text format, and of a line of a stack trace below it. */
const textLine = /^(?:\d{4}-\d\d-\d\dT[\d:.]+Z (?:DEBUG|INFO|WARN|ERROR) {1,2}| {4}at )/;

/**
 * Keeps the lines that the log has written. Other lines can contain secrets: the first start of a server prints a
 * password, and other programs can write to the same file.
 */
export function keepLogLines(text: string): string {
  const lines = text.split('\n').filter((line) => line !== '');
  const kept = lines.filter((line) => textLine.test(line) || isJsonLine(line));
  const omitted = lines.length - kept.length;
  const note = omitted === 0 ? '' : `(${omitted} other lines left out)\n`;
  return note + kept.slice(-mostLines).join('\n');
}

function isJsonLine(line: string): boolean {
  try {
    const { time, level, msg } = JSON.parse(line) as Record<string, unknown>;
    return [time, level, msg].every((field) => typeof field === 'string');
  } catch {
    return false;
  }
}
