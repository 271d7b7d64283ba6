import type { KeyType } from '../application-settings/key-types.ts';
import { safeJson, safeText, shellWord } from './quoting.ts';
import type { Block, Subject, Target } from './target.ts';

const intro =
  'Each evaluation counts as a check of the variant that it returned. It works with every provider, and no call that evaluates a flag changes.';

/** The package for OpenFeature's JavaScript SDKs. */
export const openFeatureTargets: readonly Target[] = [
  target('server', 'Server', 'Backend', (subject) => [
    {
      name: 'key as a variable',
      how: 'The key is secret. Pass it to the program as an environment variable:',
      code: `export FLAGMETER_KEY=${shellWord(subject.key)}`,
    },
    setUp('server', `  key: process.env.FLAGMETER_KEY,\n`, subject, `  service: "my-service",\n`),
  ]),
  target('web', 'Web page', 'Frontend', (subject) => [
    setUp('web', `  key: ${safeText(subject.key)},\n`, subject),
  ]),
];

function target(id: string, label: string, type: KeyType, write: (subject: Subject) => Block[]): Target {
  const install: Block = {
    name: 'command that installs the package',
    how: 'In the folder of the program:',
    code: 'npm install @flagmeter/openfeature',
  };
  return {
    id,
    label,
    keyTypes: [type],
    lines: (subject) => ({ intro, blocks: [install, ...write(subject)] }),
  };
}

function setUp(sdk: 'server' | 'web', key: string, { metricsUrl, environment }: Subject, more = ''): Block {
  return {
    name: 'lines for the program',
    how: 'Where the program sets its provider:',
    code: `import { flagmeter } from '@flagmeter/openfeature/${sdk}';
import { OpenFeature } from '@openfeature/${sdk}-sdk';

const meter = flagmeter({
  url: ${safeJson(metricsUrl)},
${key}  environment: ${safeText(environment)},
${more}});
OpenFeature.addHooks(meter.hook);
await OpenFeature.setProviderAndWait(meter.withTracking(provider));`,
  };
}
