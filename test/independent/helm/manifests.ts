import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StatefulSet } from 'kubernetes-models/apps/v1/StatefulSet';
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress';
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap';
import { Service } from 'kubernetes-models/v1/Service';
import { root } from '../../packages/fixture.ts';

export const kinds = { ConfigMap, Ingress, Service, StatefulSet };

// biome-ignore lint/suspicious/noExplicitAny: manifests have any fields, and the schemas of Kubernetes check them
export type Manifest = any;

/**
 * Finds fields that the schemas of Kubernetes allow, although the types generated from the schemas lack them.
 * @returns the compiler's errors about the manifests
 */
export function unknownFields(made: readonly Manifest[]): string[] {
  const folder = mkdtempSync(join(root, 'dist/chart-'));
  try {
    const imports = Object.entries(kinds).map(
      ([kind, { apiVersion }]) => `import type { I${kind} } from 'kubernetes-models/${apiVersion}/${kind}';\n`,
    );
    const constants = made.map(
      (manifest, index) => `export const m${index}: I${manifest.kind} = ${JSON.stringify(manifest, undefined, 1)};\n`,
    );
    writeFileSync(join(folder, 'manifests.ts'), [...imports, ...constants].join(''));
    const args = [
      '--ignoreConfig',
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--module',
      'nodenext',
      join(folder, 'manifests.ts'),
    ];
    const { stdout, stderr } = spawnSync(join(root, 'node_modules/.bin/tsc'), args, { encoding: 'utf8', cwd: folder });
    return `${stdout}${stderr}`.split('\n').filter((line) => line.includes('error'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
