import { oneOf } from './column-types.ts'

/** Tasks that nobody takes wait for people, too. A value at the end of the list needs no rewrite of the table. */
export const ALERTS = [
  `alter table baton_task_details
    modify column waits_kind ${oneOf(`'question', 'review', 'budget', 'dead_letter', 'alert'`)}`,
]
