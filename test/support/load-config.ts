import { type ConfigSources, loadConfig } from '../../src/serve/config/config.ts';

/** Loads from flags, variables and the file `f.json`; the file's content may be text or an object. For two cores. */
export function load(argv: string[] = [], env: ConfigSources['env'] = {}, file?: unknown) {
  const readFile = (path: string) => {
    if (path !== 'f.json' || file === undefined) throw new Error(`ENOENT: no such file '${path}'`);
    return typeof file === 'string' ? file : JSON.stringify(file);
  };
  return loadConfig({ argv, env, readFile, cores: 2 });
}
