import { completion } from '../../src/commands/command-table.ts';

/** The output of `flagmeter completion` for each shell. */
export function completionScripts(): Readonly<Record<'bash' | 'zsh' | 'fish', string>> {
  return { bash: scriptFor('bash'), zsh: scriptFor('zsh'), fish: scriptFor('fish') };
}

function scriptFor(shell: string): string {
  let script = '';
  completion([shell], {
    out: (text) => {
      script += text;
    },
    err: () => {},
    interactive: false,
    env: {},
    readFile: () => '',
  });
  return script;
}
