import { afterAll } from 'vitest';
import { cleanUp } from '../../support/binary.ts';
import { describeOneTruth } from '../../support/one-truth.ts';
import { startLocal } from '../../support/service.ts';

afterAll(cleanUp);

describeOneTruth('the service on Node', startLocal);
