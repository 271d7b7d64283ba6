import { ApiError } from '../../contract/errors.ts';
import { isName } from '../../contract/names.ts';
import { checkName } from '../check-name.ts';
import type { ReportHead, ReportNote } from './report.ts';

/** The fields of a head as sent. */
export type SentHead = Omit<ReportHead, 'notes'>;

/**
 * The checked head of a report. An empty instance name counts as missing, and an invalid one is left out.
 * @param notes receives the notes on it
 * @throws {ApiError} of status 400 if the key or the environment is malformed; whether they exist is not checked here
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
