import { describe, expect, test } from 'vitest';
import { ApiProblem, Unreachable } from '../../src/console/api/problem.ts';
import { findField } from '../../src/console/components/form/field-problem.ts';

const names = ['name', 'rate', 'email', 'environments'];

describe('the field that a refusal is about', () => {
  test.each([
    ['a place in the body', new ApiProblem(400, 'invalid_body', 'The value at /rate must be >= 0'), 'rate'],
    ['a place inside a field', new ApiProblem(400, 'invalid_body', 'The value at /email/0 must be string'), 'email'],
    ['a field', new ApiProblem(400, 'invalid_body', 'Field rate must be >= 0'), 'rate'],
    ['an entry of a field', new ApiProblem(400, 'invalid_body', 'Field email/0 must be string'), 'email'],
    ['a quoted field', new ApiProblem(400, 'invalid_body', '`rate` must be null'), 'rate'],
    ['a quoted entry', new ApiProblem(400, 'invalid_body', '`email[1]` must be one'), 'email'],
    ['a field in words', new ApiProblem(400, 'invalid_body', 'The email must be one'), 'email'],
    ['a name in a list', new ApiProblem(400, 'invalid_name', 'The name of an environment must'), 'environments'],
    ['a code that names the field', new ApiProblem(400, 'invalid_name', 'Another name is needed'), 'name'],
    ['a code that the form assigns', new ApiProblem(409, 'conflict', 'There is one already'), 'name'],
    ['an unknown field', new ApiProblem(400, 'invalid_body', 'The value at /x'), undefined],
    ['no field', new ApiProblem(403, 'forbidden', 'Only Admins may'), undefined],
    ['no response', new Unreachable('name'), undefined],
  ])('findField returns $2 for an error with %s', (_, error, field) => {
    expect(findField(error, names, { conflict: 'name' })).toBe(field);
  });
});
