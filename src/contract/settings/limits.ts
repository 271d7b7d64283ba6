import Type from 'typebox';
import { bytes, file, whole } from './kinds.ts';

export const limits = {
  rate: whole(
    'Admission',
    'Maximum packets per second of an application (0: unlimited). Each started 4 KiB of a body counts as one packet',
    { minimum: 0, maximum: 1_000_000_000, default: 10_000 },
  ),
  burst: Type.Optional(
    whole('Admission', 'Maximum burst of an application in packets, counted as for --rate', {
      minimum: 0,
      maximum: 2_000_000_000,
      defaultText: 'twice --rate',
    }),
  ),
  maxBody: bytes('Admission', 'Maximum size of a packet, uncompressed', {
    minimum: 64,
    maximum: 1_073_741_824,
    default: 65_536,
  }),
  maxReport: bytes('Admission', 'Maximum size of a report, uncompressed', {
    minimum: 64,
    maximum: 1_073_741_824,
    default: 4_194_304,
  }),
  apiRate: whole('Admission', 'Maximum API requests per second of a client, over all of its tokens (0: unlimited)', {
    minimum: 0,
    maximum: 1_000_000,
    default: 100,
  }),
  tokenRate: whole('Admission', 'Maximum token requests per second of a client (0: unlimited)', {
    minimum: 0,
    maximum: 1_000_000,
    default: 100,
  }),
  maxConnectionsPerAddress: Type.Optional(
    whole(
      'Admission',
      'Maximum connections per client address, HTTP and gRPC together (0: unlimited). Trusted proxies are exempt',
      { minimum: 0, maximum: 1_000_000, defaultText: 'a quarter of the open files, at most 16384' },
    ),
  ),
  bodyBudget: bytes('Admission', 'Maximum memory for request bodies larger than 4 KiB, in total', {
    minimum: 64,
    default: 2 ** 26,
  }),
  batchPackets: whole('Admission', 'Maximum packets in a commit', { minimum: 1, default: 4_096 }),
  commitDelay: whole(
    'Admission',
    'Maximum time in ms that a commit waits for more packets, if the delay does not slow senders down (0: none). The commit starts when --commit-siblings packets wait',
    { value: 'MS', minimum: 0, maximum: 1_000, default: 2 },
  ),
  commitSiblings: whole('Admission', 'Number of waiting packets at which a delayed commit starts', {
    minimum: 1,
    maximum: 1_000_000,
    default: 10,
  }),
  queueHighPackets: whole('Admission', 'Number of waiting packets at which further packets are refused with 503', {
    minimum: 1,
    default: 20_000,
  }),
  queueLowPackets: whole('Admission', 'Number of waiting packets below which packets are accepted again', {
    minimum: 0,
    default: 10_000,
  }),
  queueHighBytes: bytes('Admission', 'Memory of waiting packets at which further packets are refused with 503', {
    minimum: 1,
    default: 134_217_728,
  }),
  queueLowBytes: bytes('Admission', 'Memory of waiting packets below which packets are accepted again', {
    minimum: 0,
    default: 67_108_864,
  }),
  queueHighAge: whole(
    'Admission',
    'Age of the oldest waiting packet, in ms, at which further packets are refused with 503',
    { value: 'MS', minimum: 1, default: 5_000 },
  ),
  queueLowAge: whole('Admission', 'Age of the oldest waiting packet, in ms, below which packets are accepted again', {
    value: 'MS',
    minimum: 0,
    default: 1_000,
  }),
  maxFeatures: whole('Limits', 'Maximum features per environment; further features are counted as __other__', {
    minimum: 1,
    maximum: 10_000,
    default: 2_000,
  }),
  maxVariants: whole('Limits', 'Maximum variants per feature; further variants are counted as __other__', {
    minimum: 1,
    maximum: 1_000,
    default: 64,
  }),
  maxMetrics: whole('Limits', 'Maximum metrics per environment; further metrics are counted as __other__', {
    minimum: 1,
    maximum: 100_000,
    default: 1_000,
  }),
  staleAfter: whole('Limits', 'Days without a packet after which a feature is stale', {
    value: 'DAYS',
    minimum: 1,
    maximum: 3_650,
    default: 30,
  }),
  plans: Type.Enum(['fixed', 'open'], {
    group: 'Limits',
    value: 'WHO',
    description: 'Permission of Admins to raise the plan of a team: fixed (no) or open (yes)',
    default: 'fixed',
    must: 'be fixed or open',
  }),
  instanceTtl: whole('Identities', 'Lifetime of an instance id after its last use, in seconds', {
    value: 'SECONDS',
    minimum: 1,
    maximum: 315_360_000,
    default: 2_592_000,
  }),
  rotationGrace: whole('Identities', 'Seconds for which an instance id remains valid after a newer id was minted', {
    value: 'SECONDS',
    minimum: 0,
    maximum: 315_360_000,
    default: 3_600,
  }),
  maxIdentities: whole('Identities', 'Maximum identities per environment with retained exposures', {
    minimum: 0,
    maximum: 100_000_000,
    default: 100_000,
  }),
  exposureDays: whole('Identities', 'Retention of exposures after they were last seen, in days', {
    value: 'DAYS',
    minimum: 1,
    maximum: 3_650,
    default: 30,
  }),
  keepMinutes: whole('Retention', 'Retention of minute buckets in hours; then they are rolled up into hours', {
    value: 'HOURS',
    minimum: 1,
    maximum: 8_760,
    default: 48,
  }),
  keepHours: whole('Retention', 'Retention of hour buckets in days; then they are rolled up into days', {
    value: 'DAYS',
    minimum: 1,
    maximum: 3_650,
    default: 90,
  }),
  keepDays: whole('Retention', 'Retention of day buckets and unique users in days', {
    value: 'DAYS',
    minimum: 1,
    maximum: 36_500,
    default: 1_826,
  }),
  keepAudit: whole('Retention', 'Retention of the audit log in days', {
    value: 'DAYS',
    minimum: 1,
    maximum: 36_500,
    default: 400,
  }),
  auditExport: Type.Optional(
    file('Retention', 'Directory for copies of audit log entries, one file per day, before --keep-audit removes them', {
      value: 'DIR',
    }),
  ),
};
