import { type ConfigSources, loadConfig } from '../../src/serve/config/config.ts';

/** Loads the configuration of a machine with two cores. `file` is the content of `f.json`, as text or as an object. */
export function load(argv: string[] = [], env: ConfigSources['env'] = {}, file?: unknown) {
  const readFile = (path: string) => {
    if (path !== 'f.json' || file === undefined) throw new Error(`ENOENT: no such file '${path}'`);
    return typeof file === 'string' ? file : JSON.stringify(file);
  };
  return loadConfig({ argv, env, readFile, cores: 2 });
}
