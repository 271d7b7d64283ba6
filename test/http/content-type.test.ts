import { describe, expect, it } from 'vitest';
import { contentTypeCheck } from '../../src/http/body.ts';

const check = contentTypeCheck('application/json', 'text/plain');

describe('contentTypeCheck', () => {
  it.each([
    'application/json',
    'text/plain',
    'Application/JSON',
    ' application/json ',
    'application/json;',
    'application/json; charset=utf-8',
    'text/plain;charset=UTF-8',
    'application/json; Charset="utf-8"',
    'application/json ; charset = utf-8 ',
    'application/json; foo=bar',
    'application/json; foo="b;a, \\"r"; charset=utf-8;; v=1',
    'application/json; profile="https://example.com/charset=latin1"',
    'application/json; foo=""',
  ])('contentTypeCheck accepts the header `%s`', (value) => {
    expect(() => check(value)).not.toThrow();
  });

  it.each([
    undefined,
    '',
    ';',
    'application',
    'application/jsonp',
    'application/json2; charset=utf-8',
    'application/json, text/plain',
    'application/json text/plain',
    'application/json; charset=latin1',
    'application/json; charset="iso-8859-1"',
    'application/json; charset=""',
    'application/json; foo=bar; charset=utf-16',
    'application/json; charset=utf-8; charset=latin1',
    'application/json; foo',
    'application/json; foo="bar',
    'application/json; foo=bar baz',
    'application/json; foo=b\u00e4r',
    `application/json${';'.repeat(10_000)}x`,
  ])('contentTypeCheck refuses the header `%s`', (value) => {
    expect(() => check(value)).toThrow(
      expect.objectContaining({
        code: 'invalid_content_type',
        message: 'Send application/json or text/plain, in UTF-8',
      }),
    );
  });
});
