import { type Entry, readGiven, type Syntax, type Terminal } from '../cli/command.ts';
import { bashScript, fishScript, listPlaces, zshScript } from '../cli/completion.ts';
import { type CommandName, commandNames, isOther, loadEntry, type OtherName } from './command-files.ts';

const completionCommand: Syntax = {
  name: 'completion',
  summary: 'Print a completion script for a shell',
  operand: { name: 'SHELL', values: ['bash', 'zsh', 'fish'], description: 'bash, zsh or fish' },
  options: [],
  examples: ['completion bash'],
};

const others: Readonly<Record<OtherName, Entry<Syntax>>> = {
  completion: {
    summary: completionCommand.summary,
    commands: [completionCommand],
    notes: `
  bash                        source <(flagmeter completion bash), in ~/.bashrc
  zsh                         source <(flagmeter completion zsh), in ~/.zshrc after compinit
  fish                        flagmeter completion fish > ~/.config/fish/completions/flagmeter.fish
`,
  },
  version: createEntry({ name: 'version', summary: 'Print the version', options: [], examples: ['version'] }),
  help: createEntry({
    name: 'help',
    summary: 'Print this text, or the help of a command',
    operand: { name: 'COMMAND', optional: true, values: commandNames, description: 'Command' },
    options: [],
    examples: ['help apps'],
  }),
};

function createEntry(command: Syntax): Entry<Syntax> {
  return { summary: command.summary, commands: [command] };
}

export const commandTable = Object.fromEntries(
  await Promise.all(commandNames.map(async (name) => [name, isOther(name) ? others[name] : await loadEntry(name)])),
) as Readonly<Record<CommandName, Entry<Syntax>>>;

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** @throws {UsageError} for an unknown shell */
export function completion(argv: readonly string[], terminal: Terminal): number {
  const { operand: shell } = readGiven(completionCommand, argv);
  terminal.out(scripts[shell as keyof typeof scripts](listPlaces(commandTable)));
  return 0;
}
