import { describeManagementApi } from '../../../src/management/document.ts';
import { readOpenApi } from '../../support/openapi.ts';

export const openapi = describeManagementApi({
  issuer: 'https://auth.example',
  audience: 'https://api.example',
  serviceScope: 'flagmeter',
});

export const { operations, listProblems } = readOpenApi(openapi);
