import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { patienceMs } from '../../test/support/patience.ts';
import { within } from '../pause.ts';
import type { Round } from '../round.ts';
import type { ServiceNode } from '../scene/service-node.ts';

const mostMemory = 500 * 2 ** 20;
/** For each log, the position up to which it was read. */
const readUpTo = new Map<string, number>();

/** Checks that every node is ready and uses little memory, and that no log line indicates a defect. */
export async function checkNodes({ scene, journal }: Round): Promise<void> {
  for (const node of scene.nodes) {
    if (!(await within(patienceMs, async () => (await node.whyNot('managing')) === undefined)))
      journal.violation(
        `${node.name} does not serve management requests after all faults have ended: ${await node.whyNot('managing')}`,
      );
    const mebibytes = Math.round(anonymousMemory(node) / 2 ** 20);
    if (mebibytes * 2 ** 20 > mostMemory) journal.violation(`${node.name} has ${mebibytes} MiB of memory`);
    for (const line of newLines(node.log).filter(isMistake))
      journal.violation(`${node.name} logged: ${line.slice(0, 500)}`);
  }
}

/** Returns the memory of a node without file pages. File pages are excluded, because LMDB maps its data file. */
function anonymousMemory({ pid }: ServiceNode): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/RssAnon:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
}

function newLines(path: string): string[] {
  const file = openSync(path, 'r');
  const from = readUpTo.get(path) ?? 0;
  const bytes = Buffer.alloc(fstatSync(file).size - from);
  readSync(file, bytes, 0, bytes.length, from);
  closeSync(file);
  readUpTo.set(path, from + bytes.length);
  return bytes.toString().split('\n');
}

/** True if a log line indicates a defect of the service, such as a stack trace. */
function isMistake(line: string): boolean {
  if (/unhandled|uncaught|TypeError|RangeError|ReferenceError|"code":"internal"|panic/i.test(line)) return true;
  return /^\s*(at |error:)/.test(line);
}
