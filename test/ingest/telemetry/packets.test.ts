import { describePackets } from '../../support/packet-suite.ts';
import { startLocal } from '../../support/service.ts';

describePackets('the service on Node', startLocal);
