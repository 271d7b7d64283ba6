import { Refusal } from '../contract/errors.ts';
import type { Method } from './call.ts';
import { type DescribedFile, files } from './descriptors.ts';
import { bytesField, joinFields, numberField, ProtoReader } from './protobuf.ts';
import { messageIn, rpcCodes } from './protocol.ts';

/** Services of both protocol versions. Their messages are the same: `proto/grpc/reflection/v1/reflection.proto`. */
const reflectionServices = ['grpc.reflection.v1.ServerReflection', 'grpc.reflection.v1alpha.ServerReflection'];

const fileOfName = new Map(files.map((file) => [file.name, file]));
const fileOfSymbol = new Map(files.flatMap((file) => file.symbols.map((symbol) => [symbol, file] as const)));

const maxRequest = 4096;

/** Field numbers of the requests `file_containing_extension` and `all_extension_numbers_of_type`. */
const extensionRequests = [5, 6];

/**
 * Server reflection, by which tools discover the services. The comment on `Health` says why the package
 * @grpc/reflection is not used.
 * @see https://github.com/grpc/grpc/blob/master/doc/server-reflection.md
 */
export const reflectionMethods: readonly Method[] = reflectionServices.map((service) => ({
  path: `/${service}/ServerReflectionInfo`,
  streams: true,
  receive(call, frame) {
    try {
      call.send(respond(messageIn(frame, call.header('grpc-encoding'), maxRequest)));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      call.refuse(error);
    }
  },
}));

function respond(request: Uint8Array): Buffer {
  return joinFields(bytesField(2, request), createResponse(request));
}

function createResponse(request: Uint8Array): Buffer {
  const reader = new ProtoReader(request);
  let found = errorResponse(rpcCodes.invalidArgument, 'The request is empty');
  while (reader.next()) {
    const { field } = reader;
    if (field === 3) found = describe(fileOfName.get(reader.string()));
    else if (field === 4) found = describe(fileOfSymbol.get(reader.string()));
    else reader.skip();
    if (extensionRequests.includes(field)) found = errorResponse(rpcCodes.notFound, 'Extensions are not supported');
    if (field === 7) found = serviceList;
  }
  return found;
}

/** Returns the file and its imports, so that the client needs no second request. */
function describe(file: DescribedFile | undefined): Buffer {
  if (file === undefined) return errorResponse(rpcCodes.notFound, 'Unknown file or symbol');
  const all = [file, ...file.imports.map((name) => fileOfName.get(name)!)];
  return bytesField(4, joinFields(...all.map(({ bytes }) => bytesField(1, Buffer.from(bytes, 'base64')))));
}

const serviceList = bytesField(
  6,
  joinFields(...files.flatMap(({ services }) => services.map((name) => bytesField(1, bytesField(1, name))))),
);

function errorResponse(code: number, message: string): Buffer {
  return bytesField(7, joinFields(numberField(1, code), bytesField(2, message)));
}
