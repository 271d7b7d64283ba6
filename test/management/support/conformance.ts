import { conformanceOf } from '../../support/conformance.ts';
import { openapi } from './openapi-document.ts';

export { type Answered, read } from '../../support/conformance.ts';

/** Holds the service against the document of the management API. */
export const { closed, operationOf, departures, bodyDepartures } = conformanceOf(openapi);
