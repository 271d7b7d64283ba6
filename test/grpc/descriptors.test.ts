import { join } from 'node:path';
import { create, createFileRegistry } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { expect, it } from 'vitest';
import { bytesOf, describeProtoFiles, namesIn } from '../support/proto-files.ts';

/** The source before the list. */
const introduction = `/**
 * The files of \`proto/\` as server reflection gives them out, because the executable has no files beside it.
 * Made from them; after a change there, \`npx vitest run test/grpc/descriptors.test.ts -u\` writes it again.
 */

/** One file of \`proto/\`, or one that they import. */
export interface DescribedFile {
  readonly name: string;
  readonly imports: readonly string[];
  /** Full names of its services. */
  readonly services: readonly string[];
  /** Full names of everything that it declares. */
  readonly symbols: readonly string[];
  /** Its \`google.protobuf.FileDescriptorProto\`, in base64. */
  readonly bytes: string;
}

`;

const files = describeProtoFiles();

it('descriptors.ts matches the files in proto/', async () => {
  const list = files.map((file) => ({
    name: file.name,
    imports: file.dependency,
    ...namesIn(file),
    bytes: Buffer.from(bytesOf(file)).toString('base64'),
  }));
  const source = `${introduction}// biome-ignore format: made by a test\nexport const files: readonly DescribedFile[] = ${JSON.stringify(list, null, 2)};\n`;
  await expect(source).toMatchFileSnapshot(join(import.meta.dirname, '../../src/grpc/descriptors.ts'));
});

it('every type that a file names is in it or in an import', () => {
  const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: files }));
  for (const file of files)
    for (const name of namesIn(file).services) expect(registry.getService(name)).toBeDefined();
});
