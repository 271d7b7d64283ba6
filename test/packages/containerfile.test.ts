import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DockerfileParser } from 'dockerfile-ast';
import { describe, expect, test } from 'vitest';
import { filesOfTarball } from '../../scripts/package/tarball-files.ts';
import { loadConfig } from '../../src/serve/config/config.ts';
import { checkPublicUrls } from '../../src/serve/listeners.ts';
import { startBinary, stop } from '../support/binary.ts';
import { root } from './fixture.ts';

/** These checks of the Containerfile need no image builder. */
describe('the Containerfile', () => {
  const file = DockerfileParser.parse(readFileSync(join(root, 'packaging/Containerfile'), 'utf8'));
  const instructions = file
    .getInstructions()
    .map((each) => ({ keyword: each.getKeyword(), text: each.getArgumentsContent() ?? '' }));
  const textOf = (keyword: string) => instructions.find((each) => each.keyword === keyword)?.text ?? '';

  test('the Containerfile copies files of the tar.gz, and runs the executable as an unprivileged user', () => {
    const contents = { root, version: '1.2.3', epoch: 0, executable: '', manPages: {}, notices: '', sbom: '' };
    const packed = filesOfTarball({ ...contents, completions: { bash: '', zsh: '', fish: '' } }).map(
      ({ path }) => path,
    );
    const copied = instructions
      .filter(({ keyword }) => keyword === 'COPY')
      .flatMap(({ text }) =>
        text
          .split(/\s+/)
          .filter((word) => !word.startsWith('--'))
          .slice(0, -1),
      );
    expect(copied).toContain('flagmeter');
    expect(packed).toEqual(expect.arrayContaining(copied));
    expect(textOf('USER')).toBe('65532:65532');
    expect(textOf('RUN')).toMatch(/groupadd --gid 65532 .*useradd .*--uid 65532 --gid 65532 /s);
    expect(JSON.parse(textOf('CMD'))).toEqual(['serve', '--existing']);
  });

  test('the Containerfile sets only valid variables, and no public URL', () => {
    const variables = file.getENVs().flatMap((each) => each.getProperties());
    const env = Object.fromEntries(variables.map((each) => [each.getName(), each.getValue() ?? '']));
    const read = loadConfig({ argv: [], env, readFile: () => '' });
    expect(read).toMatchObject({ data: JSON.parse(textOf('VOLUME'))[0], listen: '0.0.0.0:8080' });
    expect(() => checkPublicUrls(read)).toThrow('without --auth-url');
  });

  test('the Containerfile defines a health check that detects a stopped service', async () => {
    const command: string[] = JSON.parse(textOf('HEALTHCHECK').replace(/^.*?CMD\s+/s, ''));
    const binary = await startBinary();
    const check = () => {
      const [program = '', ...args] = command.map((word) => word.replace('8080', binary.http.split(':')[1]!));
      return spawnSync(program, args).status;
    };
    expect(check()).toBe(0);
    await stop(binary);
    expect(check()).not.toBe(0);
  });
});
