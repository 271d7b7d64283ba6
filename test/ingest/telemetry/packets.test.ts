import { afterAll } from 'vitest';
import { cleanUp } from '../../support/binary.ts';
import { describePackets } from '../../support/packet-suite.ts';
import { startLocal } from '../../support/service.ts';

afterAll(cleanUp);

describePackets('the service on Node', startLocal);
