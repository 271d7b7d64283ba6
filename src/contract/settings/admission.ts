import Type from 'typebox';
import { bytes, whole } from './kinds.ts';

/** Rates, sizes, and how much may wait for the disk. */
export const admission = {
  rate: whole(
    'Admission',
    'Maximum packets a second of an application (0: unlimited). A body counts as one packet per 4 KiB, rounded up',
    {
      minimum: 0,
      maximum: 1_000_000_000,
      default: 10_000,
    },
  ),
  burst: Type.Optional(
    whole('Admission', 'Maximum burst of an application: packets at once, counted in the same way', {
      minimum: 0,
      maximum: 2_000_000_000,
      defaultText: 'twice --rate',
    }),
  ),
  maxBody: bytes('Admission', 'Largest body of a packet, after inflating', {
    minimum: 64,
    maximum: 1_073_741_824,
    default: 65_536,
  }),
  maxReport: bytes('Admission', 'Largest body or message of a report, after inflating', {
    minimum: 64,
    maximum: 1_073_741_824,
    default: 4_194_304,
  }),
  apiRate: whole('Admission', 'API requests a second of one client with all of its tokens; 0 is no limit', {
    minimum: 0,
    maximum: 1_000_000,
    default: 100,
  }),
  tokenRate: whole('Admission', 'Token requests a second of one client; 0 is no limit', {
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
  bodyBudget: bytes('Admission', 'Most bytes of all bodies above 4 KiB', { minimum: 64, default: 2 ** 26 }),
  batchPackets: whole('Admission', 'Most packets in one commit', { minimum: 1, default: 4_096 }),
  commitDelay: whole(
    'Admission',
    'Maximum delay in ms of a commit that waits for more packets (0: none). It ends when --commit-siblings packets wait',
    { value: 'MS', minimum: 0, maximum: 1_000, default: 0 },
  ),
  commitSiblings: whole('Admission', 'Waiting packets at which a commit is not delayed any longer', {
    minimum: 1,
    maximum: 1_000_000,
    default: 100,
  }),
  queueHighPackets: whole('Admission', 'Waiting packets from which on 503 is answered', {
    minimum: 1,
    default: 20_000,
  }),
  queueLowPackets: whole('Admission', 'Waiting packets below which packets are taken again', {
    minimum: 0,
    default: 10_000,
  }),
  queueHighBytes: bytes('Admission', 'Memory of what waits for the disk at which 503 is answered', {
    minimum: 1,
    default: 134_217_728,
  }),
  queueLowBytes: bytes('Admission', 'Memory of what waits below which packets are taken again', {
    minimum: 0,
    default: 67_108_864,
  }),
  queueHighAge: whole('Admission', 'Age in ms of the oldest waiting packet from which on 503 is answered', {
    value: 'MS',
    minimum: 1,
    default: 5_000,
  }),
  queueLowAge: whole('Admission', 'Age in ms below which packets are taken again', {
    value: 'MS',
    minimum: 0,
    default: 1_000,
  }),
};
