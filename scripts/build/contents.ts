/**
 * Records the npm packages in a bundle: their notices must be shipped with it.
 * @param inside directories such as `node_modules/lmdb`, which is added to
 */
export function notePackages(metafile: Bun.BuildMetafile | undefined, inside: Set<string>): void {
  if (metafile === undefined) throw new Error('The bundler did not return a metafile');
  for (const path of Object.keys(metafile.inputs)) {
    const [folder] = /^.*\bnode_modules\/(@[^/]+\/)?[^/]+/.exec(path) ?? [];
    if (folder !== undefined) inside.add(folder.slice(folder.indexOf('node_modules/')));
  }
}
