import { type Action, type Destination, folderDestination } from './destination.ts';
import type { ScheduledSettings } from './make-scheduled.ts';

/** True for an address of a bucket: `s3://BUCKET/PREFIX`. */
export function isBucket(address: string): boolean {
  return address.startsWith('s3://');
}

/**
 * Opens a directory or a bucket. The client of buckets is loaded only for a bucket.
 * @param over aborts requests to a bucket
 */
export async function openDestination(
  { to, s3, data }: Pick<ScheduledSettings, 'to' | 's3' | 'data'>,
  over: AbortSignal,
  action: Action = 'write',
): Promise<Destination> {
  if (!isBucket(to)) return folderDestination(to, action);
  const { bucketDestination } = await import('./bucket.ts');
  return bucketDestination(to, s3, data, over);
}
