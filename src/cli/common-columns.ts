import { column, cut } from './print.ts';

/** The columns that most resources have. */
export const id = column('ID', 'id');
export const name = column('NAME', 'name', cut);
export const createdAt = column('CREATED', 'createdAt');
