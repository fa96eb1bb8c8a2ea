import type { Stored } from '../../../postgres/statements/stored-kind.ts'
import { EARLIEST_DUE_TASK, EARLIEST_LEASE_CHECK } from './due.ts'

export const storedTasks: Stored = {
  tables: {
    tasks: 'select, insert, update',
    task_details: 'select, insert, update',
    task_dependencies: 'select, insert, update, delete',
    task_tags: 'select, insert',
    track_claims: 'select, insert, delete',
    project_counters: 'select, insert, update',
    attempts: 'select, insert, update, delete',
    rejected_results: 'select, insert, update',
  },
  due: [EARLIEST_DUE_TASK, EARLIEST_LEASE_CHECK],
}
