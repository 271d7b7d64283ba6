import { describeOneTruth } from '../../support/one-truth.ts';
import { startLocal } from '../../support/service.ts';

describeOneTruth('the service on Node', startLocal);
