import type { Stored } from '../../../postgres/statements/stored-kind.ts'
import { EARLIEST_TIMER } from './wakeups.ts'

export const storedRuns: Stored = {
  tables: {
    agent_runtime_state: 'select, insert, update',
    agent_task_sessions: 'select, insert, update, delete',
    parked_credentials: 'select, insert, update',
    wakeups: 'select, insert, update, delete',
    runs: 'select, insert, update',
    run_events: 'select, insert',
    run_log_chunks: 'select, insert, delete',
    run_messages: 'select, insert, delete',
    run_invocations: 'select, insert, update, delete',
    run_log_tail: 'select, insert, delete',
  },
  due: [EARLIEST_TIMER],
}
