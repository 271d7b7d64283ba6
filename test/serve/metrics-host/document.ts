import { describeMetricsHost } from '../../../src/ingest/host/metrics-document.ts';
import { readOpenApi } from '../../support/openapi.ts';

export const openapi = describeMetricsHost({ server: 'http://127.0.0.1:8080', maxBody: 65_536, maxReport: 4_194_304 });

export const document = readOpenApi(openapi);
export const { operations, listStatuses, listProblems, conforms } = document;
