import { ApiError } from '../../contract/errors.ts';
import { isName } from '../../contract/names.ts';
import { checkName } from '../check-name.ts';
import type { ReportHead, ReportNote } from './report.ts';

/** The fields of a head as they were sent. */
export type SentHead = Omit<ReportHead, 'notes'>;

/**
 * The head of a report. An empty instance name counts as missing, and one that is not valid is left out.
 * @param notes gets what is noted of it
 * @throws {ApiError} of status 400 when the key or the environment cannot be one; whether they exist is not asked here
 */
export function checkHead(sent: SentHead, notes: Set<ReportNote>): SentHead {
  const { appKey, environment, instanceName } = sent;
  if (appKey === '' || appKey.length > 256) {
    throw new ApiError('invalid_body', 'appKey must be an application key of 1 to 256 characters');
  }
  checkName(environment, 'environment');
  if (!instanceName) return { ...sent, instanceName: undefined };
  if (isName(instanceName)) return sent;
  notes.add('name_dropped');
  return { ...sent, instanceName: undefined };
}
