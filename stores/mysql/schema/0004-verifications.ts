import { oneOf } from './column-types.ts'

/** Results that Baton gets a verdict on. Verifications themselves are made where missions are held: in Postgres only. */
export const VERIFICATIONS = [
  `alter table baton_tasks
    add column serves text,
    modify column review ${oneOf(`'none', 'human', 'verifier', 'baton'`)} not null`,
]
