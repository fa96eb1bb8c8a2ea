import { oneOf } from './column-types.ts'

/** What waits for a person, and since when. Both servers add these columns without rewriting the table. */
export const WAITING_FOR_PEOPLE = [
  `alter table baton_task_details
    add column question longtext,
    add column waits_kind ${oneOf(`'question', 'review', 'budget', 'dead_letter'`)},
    add column waits_since bigint,
    add column waits_because mediumtext`,
]
