import { describe } from 'vitest';
import { conformance } from './conformance.ts';
import { startBun, startUws } from './support/servers.ts';

describe.concurrent('bun', () => conformance(startBun));
describe.concurrent('uws', () => conformance(startUws));
