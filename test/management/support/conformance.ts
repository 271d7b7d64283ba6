import { createConformance } from '../../support/conformance.ts';
import { openapi } from './openapi-document.ts';

export { read, type UnparsedResponse } from '../../support/conformance.ts';

/** Compares the service with the document of the management API. */
export const { closed, findOperation, departures, bodyDepartures } = createConformance(openapi);
