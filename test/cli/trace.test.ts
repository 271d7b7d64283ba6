import { expect, test } from 'vitest';
import { connect } from '../../src/cli/api.ts';
import { readGiven } from '../../src/cli/command.ts';
import { urlOption } from '../../src/cli/common-options.ts';
import { testContext } from './fixture.ts';

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

test.each([
  [
    { TRACEPARENT: traceparent, TRACESTATE: 'vendor=1' },
    { traceparent, tracestate: 'vendor=1' },
  ],
  [{ TRACEPARENT: traceparent }, { traceparent }],
  [{ TRACEPARENT: `${traceparent}\r\nx: y`, TRACESTATE: 'vendor=1' }, {}],
  [{ TRACEPARENT: traceparent, TRACESTATE: 'a\nb' }, { traceparent }],
  [{}, {}],
])('the variables %j become the headers %j of a request', async (env, expected) => {
  const sent: Record<string, string>[] = [];
  const context = {
    ...testContext({ env: { FLAGMETER_TOKEN: 'token', ...env } }),
    fetch: async (_: string, init: RequestInit) => {
      sent.push(init.headers as Record<string, string>);
      return Response.json({});
    },
  };
  const given = readGiven({ name: 'x', summary: '', examples: [], options: [urlOption] }, [
    '--url',
    'http://127.0.0.1:1',
  ]);
  await connect(context, given).read(['applications'], {});
  const [{ traceparent: parent, tracestate: state } = {}] = sent;
  expect(JSON.parse(JSON.stringify({ traceparent: parent, tracestate: state }))).toEqual(expected);
});
