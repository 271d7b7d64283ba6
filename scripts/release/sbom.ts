import { createHash } from 'node:crypto';
import { Enums, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library';
import type { Component } from './parts.ts';
import type { Target } from './targets.ts';

/** Version of the CycloneDX format. */
export const sbomSpec = Spec.Spec1dot6;

/** Returns the bill of materials of an executable. @param sha256 digest of the executable */
export function sbomText(
  parts: readonly Component[],
  about: { readonly version: string; readonly target: Target; readonly epoch: number; readonly sha256: string },
): string {
  const { version, target, epoch, sha256 } = about;
  const flagmeter = new Models.Component(Enums.ComponentType.Application, 'flagmeter', {
    version,
    bomRef: `flagmeter@${version}`,
    description: `The executable for ${target}`,
    licenses: new Models.LicenseRepository([new Models.LicenseExpression('Apache-2.0')]),
    hashes: new Models.HashDictionary([[Enums.HashAlgorithm['SHA-256'], sha256]]),
  });
  const components = parts.map((part) => createComponent(part, ''));
  for (const { bomRef } of components) flagmeter.dependencies.add(bomRef);
  const bom = new Models.Bom({
    serialNumber: serialNumber(sha256),
    metadata: new Models.Metadata({ component: flagmeter, timestamp: new Date(epoch * 1000) }),
    components: new Models.ComponentRepository(components),
  });
  const serializer = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(sbomSpec));
  return `${serializer.serialize(bom, { sortLists: true, space: 2 })}\n`;
}

function createComponent(
  { name, version, license, url, purl, parts = [] }: Component,
  within: string,
): Models.Component {
  const bomRef = `${within}${purl ?? name}`;
  const nested = parts.map((part) => createComponent(part, `${bomRef}/`));
  return new Models.Component(Enums.ComponentType.Library, name, {
    bomRef,
    ...(version === undefined ? {} : { version }),
    ...(purl === undefined ? {} : { purl }),
    licenses: new Models.LicenseRepository(license === undefined ? [] : [new Models.LicenseExpression(license)]),
    externalReferences: new Models.ExternalReferenceRepository(
      url === undefined ? [] : [new Models.ExternalReference(url, Enums.ExternalReferenceType.Website)],
    ),
    components: new Models.ComponentRepository(nested),
  });
}

/** Returns a UUID (RFC 9562, version 8) that is derived from the bytes of the executable. */
function serialNumber(sha256: string): string {
  const hex = createHash('sha256').update(`flagmeter sbom ${sha256}`).digest('hex');
  const fields = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `a${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return `urn:uuid:${fields.join('-')}`;
}
