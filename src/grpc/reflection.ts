import { type Server, type ServerDuplexStream, status } from '@grpc/grpc-js';
import { ApiError } from '../errors.ts';
import { ProtoReader } from '../reports/proto-reader.ts';
import { type DescribedFile, files } from './descriptors.ts';
import { methodOf } from './method.ts';
import { bytesField, joinFields, numberField } from './proto-writer.ts';

/** Both versions of the protocol have the same messages: `proto/grpc/reflection/v1/reflection.proto`. */
const reflectionServices = [
  'grpc.reflection.v1.ServerReflection',
  'grpc.reflection.v1alpha.ServerReflection',
];

const fileOfName = new Map(files.map((file) => [file.name, file]));
const fileOfSymbol = new Map(files.flatMap((file) => file.symbols.map((symbol) => [symbol, file] as const)));

type Stream = ServerDuplexStream<Buffer, Buffer>;

/**
 * Serves server reflection, by which tools learn what there is to call.
 * @see https://github.com/grpc/grpc/blob/master/doc/server-reflection.md
 */
export function addReflection(server: Server): void {
  for (const service of reflectionServices) {
    const path = `/${service}/ServerReflectionInfo`;
    const definition = { ServerReflectionInfo: methodOf(path, { requests: true, responses: true }) };
    server.addService(definition, { ServerReflectionInfo: converse });
  }
}

/** Answers question by question; one who does not read the answers is not asked for more. */
function converse(stream: Stream): void {
  stream.on('data', (request: Buffer) => {
    const response = respond(request);
    if (response === undefined) {
      stream.emit('error', { code: status.INVALID_ARGUMENT, details: 'A request cannot be read' });
    } else if (!stream.write(response)) {
      stream.pause();
      stream.once('drain', () => stream.resume());
    }
  });
  stream.on('end', () => stream.end());
}

/** The `ServerReflectionResponse` to a request; `undefined` when the request cannot be read. */
function respond(request: Buffer): Buffer | undefined {
  try {
    return joinFields(bytesField(2, request), answer(request));
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/** The field of the response that answers a request. */
function answer(request: Buffer): Buffer {
  const reader = new ProtoReader(request);
  let found = problem(status.INVALID_ARGUMENT, 'The request asks for nothing');
  while (reader.next()) {
    switch (reader.field) {
      case 3:
        found = describe(fileOfName.get(reader.string()));
        break;
      case 4:
        found = describe(fileOfSymbol.get(reader.string()));
        break;
      case 5: // file_containing_extension
      case 6: // all_extension_numbers_of_type
        reader.skip();
        found = problem(status.NOT_FOUND, 'There are no extensions');
        break;
      case 7:
        reader.skip();
        found = serviceList;
        break;
      default:
        reader.skip();
    }
  }
  return found;
}

/** The file and those that it imports, so that nobody has to ask again. */
function describe(file: DescribedFile | undefined): Buffer {
  if (file === undefined) return problem(status.NOT_FOUND, 'There is no such file or symbol');
  const all = [file, ...file.imports.map((name) => fileOfName.get(name)!)];
  return bytesField(4, joinFields(...all.map(({ bytes }) => bytesField(1, Buffer.from(bytes, 'base64')))));
}

const serviceList = bytesField(
  6,
  joinFields(...files.flatMap(({ services }) => services.map((name) => bytesField(1, bytesField(1, name))))),
);

function problem(code: number, message: string): Buffer {
  return bytesField(7, joinFields(numberField(1, code), bytesField(2, message)));
}
