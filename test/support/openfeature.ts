import { execFileSync, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'rolldown';
import { freshDirectory } from './binary.ts';
import { buildPage } from './build-page.ts';
import { skippedWorkspaces } from './workspaces.ts';

const root = resolve(import.meta.dirname, '../..');
const folder = join(root, 'clients/openfeature');

/** OpenFeature's SDKs, which `npm ci` omits. */
export const openFeatureSdks = { why: skippedWorkspaces.get('clients/openfeature') };

let installed: string | undefined;

/**
 * Installs the files that `npm publish` would send, next to the SDKs and to programs that use both. @returns the
 * directory
 */
function installPackage(): string {
  // Test files in one process share this module, and each file removes its folders at the end.
  if (installed === undefined || !existsSync(installed)) installed = install();
  return installed;
}

function install(): string {
  const directory = freshDirectory();
  const modules = join(directory, 'node_modules');
  mkdirSync(join(modules, '@flagmeter'), { recursive: true });
  const pack = ['pack', folder, '--silent', '--ignore-scripts', '--pack-destination', directory];
  execFileSync('npm', pack, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  const [archive] = readdirSync(directory).filter((name) => name.endsWith('.tgz'));
  execFileSync('tar', ['-xzf', archive ?? ''], { cwd: directory });
  renameSync(join(directory, 'package'), join(modules, '@flagmeter/openfeature'));
  symlinkSync(join(root, 'node_modules/@openfeature'), join(modules, '@openfeature'));
  cpSync(join(folder, 'test'), directory, { recursive: true });
  return directory;
}

/** Checks the types of programs that use the installed package with both SDKs. @returns the compiler's errors */
export function checkTypes(): string {
  const directory = installPackage();
  const options = {
    compilerOptions: {
      module: 'nodenext',
      target: 'es2022',
      lib: ['es2023', 'dom'],
      strict: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      exactOptionalPropertyTypes: true,
      types: ['node'],
      typeRoots: [join(root, 'node_modules/@types')],
    },
    include: ['*.ts'],
  };
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(options));
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
  return spawnSync(join(root, 'node_modules/.bin/tsc'), { cwd: directory, encoding: 'utf8' }).stdout;
}

/** Builds a program that uses the installed package and the web SDK. @returns a script for a page */
export function buildWebApp(): Promise<string> {
  return buildPage(join(installPackage(), 'web-app.ts'));
}

/** Saves a program, such as an example of the docs, next to the installed package. @returns its path */
export function saveProgram(name: string, code: string): string {
  const path = join(installPackage(), name);
  writeFileSync(path, code);
  return path;
}

/** Builds a program, such as an example of the docs. @returns a script for a page */
export function buildProgram(name: string, code: string): Promise<string> {
  return buildPage(saveProgram(`${name}.ts`, code));
}

/** A process that evaluates flags with the installed package and the server SDK. */
export interface ServerApp {
  /** Calls one of the `actions` of the process. */
  act(action: 'evaluate' | 'text' | 'track' | 'flush' | 'close', ...given: unknown[]): Promise<void>;
  /** Disconnects from the process, and waits until it exits. @returns its exit code */
  end(): Promise<number>;
  kill(): void;
}

/** @returns a function that starts a `ServerApp` with options of the package */
export async function prepareServerApp(): Promise<(options: object) => Promise<ServerApp>> {
  const directory = installPackage();
  const [input, file] = ['ts', 'mjs'].map((ending) => join(directory, `server-app.${ending}`)) as [string, string];
  await build({ input, platform: 'node', external: [/^@/], output: { file } });
  return async (options) => {
    const child = fork(join(directory, 'server-app.mjs'), [JSON.stringify(options)], { execArgv: [] });
    await once(child, 'message');
    return {
      async act(...order) {
        const done = once(child, 'message');
        child.send(order);
        await done;
      },
      async end() {
        const exit = once(child, 'exit');
        child.disconnect();
        const [code] = await exit;
        return code;
      },
      kill: () => void child.kill('SIGKILL'),
    };
  };
}
