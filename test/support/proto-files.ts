import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { create, toBinary } from '@bufbuild/protobuf';
import {
  type DescriptorProto,
  DescriptorProtoSchema,
  EnumDescriptorProtoSchema,
  type FieldDescriptorProto,
  FieldDescriptorProtoSchema,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  file_google_protobuf_timestamp,
  FieldDescriptorProto_Type as Kind,
  FieldDescriptorProto_Label as Label,
  MethodDescriptorProtoSchema,
  OneofDescriptorProtoSchema,
  ServiceDescriptorProtoSchema,
} from '@bufbuild/protobuf/wkt';
import protobuf from 'protobufjs';

/** Converts the files in proto/ to descriptors, as protoc does. */

const folder = join(import.meta.dirname, '../../proto');

const timestamp = file_google_protobuf_timestamp.proto;

/** Returns the descriptor of every file that the gRPC server describes. Imported files come first. */
export function describeProtoFiles(): FileDescriptorProto[] {
  const reflection = 'grpc/reflection/v1/reflection.proto';
  const older = (text: string) => text.replaceAll('/v1/', '/v1alpha/').replaceAll('.v1', '.v1alpha');
  return [
    timestamp,
    ...['usage.proto', 'metrics.proto', 'grpc/health/v1/health.proto', reflection].map((name) =>
      describeFile(name, read(name)),
    ),
    describeFile(older(reflection), older(read(reflection))),
  ];
}

/** Returns the full names of a file's services, and of all declarations that can be queried. */
export function namesIn(file: FileDescriptorProto): { services: string[]; symbols: string[] } {
  const services = file.service.map(({ name }) => `${file.package}.${name}`);
  const methods = file.service.flatMap(({ name, method }) =>
    method.map((each) => `${file.package}.${name}.${each.name}`),
  );
  const inside = (scope: string, message: DescriptorProto): string[] => {
    const name = `${scope}.${message.name}`;
    const nested = message.nestedType.filter(({ options }) => !options?.mapEntry);
    return [
      name,
      ...nested.flatMap((each) => inside(name, each)),
      ...message.enumType.map((each) => `${name}.${each.name}`),
    ];
  };
  const types = file.messageType.flatMap((message) => inside(file.package, message));
  return { services, symbols: [...services, ...methods, ...types] };
}

/** Encodes a file's descriptor. */
export function encodeFile(file: FileDescriptorProto): Uint8Array {
  return toBinary(FileDescriptorProtoSchema, file);
}

function read(name: string): string {
  return readFileSync(join(folder, name), 'utf8');
}

function describeFile(name: string, text: string): FileDescriptorProto {
  const { root, package: scope = '', imports = [] } = protobuf.parse(text, { keepCase: true });
  const members = (root.lookup(scope) as protobuf.Namespace).nestedArray;
  if (imports.length > 0) addTimestamp(root);
  root.resolveAll();
  return create(FileDescriptorProtoSchema, {
    name,
    package: scope,
    dependency: imports,
    syntax: 'proto3',
    messageType: members.filter((member) => member instanceof protobuf.Type).map(describeMessage),
    service: members.filter((member) => member instanceof protobuf.Service).map(describeService),
  });
}

function addTimestamp(root: protobuf.Root): void {
  root.define('google.protobuf').add(new protobuf.Type('Timestamp'));
}

function describeMessage(message: protobuf.Type): DescriptorProto {
  const synthetic = message.fieldsArray.filter(isOptional).map(({ name }) => `_${name}`);
  const oneofs = message.oneofsArray.map(({ name }) => name).filter((name) => !synthetic.includes(name));
  const order = [...oneofs, ...synthetic];
  const nested = message.nestedArray;
  return create(DescriptorProtoSchema, {
    name: message.name,
    field: message.fieldsArray.map((field) => describeField(field, order)),
    nestedType: [
      ...nested.filter((each) => each instanceof protobuf.Type).map(describeMessage),
      ...message.fieldsArray.filter((field) => field instanceof protobuf.MapField).map(describeEntry),
    ],
    enumType: nested.filter((each) => each instanceof protobuf.Enum).map(describeEnum),
    oneofDecl: order.map((name) => create(OneofDescriptorProtoSchema, { name })),
  });
}

/** True for `optional` in proto3. Such a field has its own oneof, as protoc writes it. */
function isOptional(field: protobuf.Field): boolean {
  return field.getOption('proto3_optional') === true;
}

function describeField(field: protobuf.Field, oneofs: readonly string[]): FieldDescriptorProto {
  const map: boolean = field instanceof protobuf.MapField;
  const type = map ? { type: Kind.MESSAGE, typeName: entryName(field) } : describeType(field);
  const oneof = isOptional(field) ? `_${field.name}` : field.partOf?.name;
  return create(FieldDescriptorProtoSchema, {
    name: field.name,
    jsonName: field.name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
    number: field.id,
    label: map || field.repeated ? Label.REPEATED : Label.OPTIONAL,
    ...type,
    ...(oneof === undefined ? {} : { oneofIndex: oneofs.indexOf(oneof) }),
    ...(isOptional(field) ? { proto3Optional: true } : {}),
  });
}

const kinds: Readonly<Record<string, Kind>> = {
  double: Kind.DOUBLE,
  int32: Kind.INT32,
  string: Kind.STRING,
  bytes: Kind.BYTES,
};

function describeType({ type, resolvedType }: { type: string; resolvedType: protobuf.Type | protobuf.Enum | null }) {
  if (resolvedType !== null) {
    const kind = resolvedType instanceof protobuf.Enum ? Kind.ENUM : Kind.MESSAGE;
    return { type: kind, typeName: resolvedType.fullName };
  }
  const kind = kinds[type];
  if (kind === undefined) throw new Error(`Cannot describe a field of type ${type} yet`);
  return { type: kind };
}

/** Returns the name that protoc gives to the message of a map's entries. */
function shortEntryName({ name }: protobuf.FieldBase): string {
  const words = name.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `${words.join('')}Entry`;
}

function entryName(field: protobuf.FieldBase): string {
  return `${field.parent?.fullName}.${shortEntryName(field)}`;
}

function describeEntry(field: protobuf.MapField): DescriptorProto {
  const part = (name: string, number: number, type: ReturnType<typeof describeType>) =>
    create(FieldDescriptorProtoSchema, { name, jsonName: name, number, label: Label.OPTIONAL, ...type });
  const key = part('key', 1, describeType({ type: field.keyType, resolvedType: null }));
  return create(DescriptorProtoSchema, {
    name: shortEntryName(field),
    field: [key, part('value', 2, describeType(field))],
    options: { mapEntry: true },
  });
}

function describeEnum({ name, values }: protobuf.Enum) {
  const value = Object.entries(values).map(([each, number]) => ({ name: each, number }));
  return create(EnumDescriptorProtoSchema, { name, value });
}

function describeService({ name, methodsArray }: protobuf.Service) {
  const method = methodsArray.map((each) =>
    create(MethodDescriptorProtoSchema, {
      name: each.name,
      inputType: each.resolvedRequestType?.fullName ?? '',
      outputType: each.resolvedResponseType?.fullName ?? '',
      clientStreaming: each.requestStream ?? false,
      serverStreaming: each.responseStream ?? false,
    }),
  );
  return create(ServiceDescriptorProtoSchema, { name, method });
}
