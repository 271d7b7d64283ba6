import Type, { type Static } from 'typebox';
import { compiled } from '../compiled.ts';
import { Name } from '../http/schema.ts';
import { type FaultRows, shapeError } from '../http/shape-error.ts';
import { checkName } from '../ingest/check-name.ts';
import { Named } from '../ingest/named.ts';
import { isPlainPacket, maxCount } from './plain-packet.ts';

const Count = Type.Integer({ minimum: 0, maximum: maxCount });

const Variants = Named(Type.Unsafe<readonly number[]>(Type.Array(Count, { minItems: 1, maxItems: 3 })));

/**
 * Compact telemetry: counts `[checks, used, viewed]` by feature and variant, trailing zeros left out, and metrics. Only the
 * size of the body limits how many; names that are not valid are left out later (see `EnvironmentSeries`).
 */
export const PacketSchema = Type.Object(
  {
    k: Type.String({ minLength: 1, maxLength: 256, description: 'Frontend or Mobile application key.' }),
    e: Type.String({ minLength: 1, maxLength: 256, description: 'Name of the environment.', ...Name }),
    f: Type.Optional(
      Named(Variants, {
        description: 'Counts by feature, then by variant: `[checks, used, viewed]`, trailing zeros left out.',
      }),
    ),
    m: Type.Optional(
      Named(Type.Number(), {
        description: 'Values by metric. Counters are added up; of a gauge the last value counts.',
      }),
    ),
    i: Type.Optional(
      Type.String({
        description:
          'Minted instance id. An id that is unknown or expired is left out, and the packet is counted.',
      }),
    ),
    u: Type.Optional(
      Type.String({
        description:
          'Identity that the client asserts. It is used only if the application accepts such identities and there is no `i`. One that is not ' +
          '1 to 256 characters, none of them a control character, is left out, and the packet is counted.',
      }),
    ),
  },
  { component: 'Packet' },
);

export type Packet = Static<typeof PacketSchema>;

const checker = compiled(PacketSchema);

/**
 * Checks a parsed body.
 * @throws {ApiError} of status 400, saying what is wrong and where
 */
export function checkPacket(body: unknown): Packet {
  if (!isPlainPacket(body) && !checker().Check(body)) throw shapeError(checker().Errors(body), { rows });
  const packet = body as Packet;
  checkName(packet.e, 'environment');
  return packet;
}

const fields: ReadonlySet<string> = new Set(Object.keys(PacketSchema.properties));

/** Whether a packet has an unknown field. The ledger notes it, since a misspelt field would go unnoticed. */
export function hasUnknownField(packet: Packet): boolean {
  for (const field in packet) if (!fields.has(field)) return true;
  return false;
}

const rows: FaultRows = [
  [/\/items$/, 'invalid_count'],
  [/^#\/properties\/m\/patternProperties\//, 'invalid_number'],
];
