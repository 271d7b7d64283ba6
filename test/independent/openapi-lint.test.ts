import { expect, test } from 'vitest';
import { openapi as auth } from '../auth/conformance.ts';
import { openapi as management } from '../management/support/openapi-document.ts';
import { openapi as metrics } from '../serve/metrics-host/document.ts';

type Finding = string;

/** Loads a module by name, with types for only the members that this test uses. */
async function load<T>(name: string): Promise<T> {
  return (await import(name)) as T;
}

interface Redocly {
  createConfig(config: object): Promise<object>;
  lintFromString(options: {
    source: string;
    absoluteRef: string;
    config: object;
  }): Promise<readonly { ruleId: string; message: string; location: readonly { pointer?: string }[] }[]>;
}

/**
 * Runs Redocly's recommended rules, except the rules about 2xx and 4xx responses. Some operations have no refusals, and
 * some always redirect.
 */
async function redocly(document: object): Promise<readonly Finding[]> {
  const { createConfig, lintFromString } = await load<Redocly>('@redocly/openapi-core');
  const rules = { 'operation-2xx-response': 'off', 'operation-4xx-response': 'off' };
  const config = await createConfig({ extends: ['recommended'], rules });
  const source = JSON.stringify(document);
  const found = await lintFromString({ source, absoluteRef: '/openapi.json', config });
  return found.map(({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer})`);
}

interface Spectral {
  default: {
    Spectral: new () => {
      setRuleset(ruleset: object): void;
      run(
        document: object,
      ): Promise<readonly { code: string | number; message: string; path: readonly (string | number)[] }[]>;
    };
  };
}

/**
 * Runs Spectral's recommended rules, except the rules for a contact address and for a description of each operation.
 */
async function spectral(document: object): Promise<readonly Finding[]> {
  const { Spectral } = (await load<Spectral>('@stoplight/spectral-core')).default;
  const rulesets = await load<{ default: { oas: object } }>('@stoplight/spectral-rulesets');
  const linter = new Spectral();
  linter.setRuleset({
    extends: [rulesets.default.oas],
    rules: { 'info-contact': 'off', 'operation-description': 'off' },
  });
  const found = await linter.run(document);
  return found.map(({ code, message, path }) => `${code}: ${message} (${path.join('/')})`);
}

test.each([
  ['the metrics host', metrics, 'Redocly', redocly],
  ['the metrics host', metrics, 'Spectral', spectral],
  ['the management API', management, 'Redocly', redocly],
  ['the management API', management, 'Spectral', spectral],
  ['the auth host', auth, 'Redocly', redocly],
  ['the auth host', auth, 'Spectral', spectral],
] as const)('the OpenAPI document of $0 has no findings by $2', async (_host, document, _linter, lint) => {
  expect(await lint(structuredClone(document))).toEqual([]);
});
