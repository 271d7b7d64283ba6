/**
 * Notes which npm packages a bundle is made of: their notices belong to what ships.
 * @param inside folders such as `node_modules/lmdb`, which is added to
 */
export function notePackages(metafile: Bun.BuildMetafile | undefined, inside: Set<string>): void {
  if (metafile === undefined) throw new Error('The bundler does not say what it has read');
  for (const path of Object.keys(metafile.inputs)) {
    const [folder] = /^.*\bnode_modules\/(@[^/]+\/)?[^/]+/.exec(path) ?? [];
    if (folder !== undefined) inside.add(folder.slice(folder.indexOf('node_modules/')));
  }
}
