import { runEntry, type Terminal } from '../../src/cli/command.ts';
import { commandNamed, isOther, loadEntry } from '../../src/commands/command-files.ts';

export async function runCommand([word = '', ...argv]: readonly string[], terminal: Terminal): Promise<number> {
  const name = commandNamed(word);
  if (name === undefined || isOther(name)) throw new Error(`Cannot run ${word} in this process`);
  return runEntry(name, await loadEntry(name), argv, terminal);
}
