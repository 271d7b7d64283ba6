import { conformanceOf } from '../../support/conformance.ts';
import { openapi } from './openapi-document.ts';

export { type Answered, read } from '../../support/conformance.ts';

/** Compares the service with the document of the management API. */
export const { closed, operationOf, departures, bodyDepartures } = conformanceOf(openapi);
