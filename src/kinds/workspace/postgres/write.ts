import { plainRows } from '../../../postgres/statements/plain-rows.ts'
import { statement } from '../../../postgres/statements/statements.ts'
import type { StoredKind } from '../../../postgres/statements/stored-kind.ts'
import { LIMIT_FIELDS, type LimitUse, THE_WORKSPACE } from '../record.ts'

export const limitRows = plainRows('limits', LIMIT_FIELDS, 0)

// The limits, locked. $1 workspace.
const lockLimits = statement(
  'lock_limits',
  `select ${limitRows.select('l')} from limits l where l.workspace_id = $1 for no key update`,
)
// How much of each limit is in use: the counter of claims is locked, so that no claim is granted meanwhile. $1 workspace.
const limitUse = statement(
  'limit_use',
  `select c.active_claims,
          (select count(*) from sessions s where s.workspace_id = $1 and s.declared and s.ended_at is null),
          (select coalesce(max(t.generation), 0) from tasks t
            where t.workspace_id = $1 and t.state not in ('completed', 'failed', 'cancelled', 'skipped'))
     from workspace_counters c where c.workspace_id = $1 for no key update of c`,
)

/** The workspace itself: its limits. */
export const storedWorkspace: StoredKind<'workspace'> = {
  tables: { limits: 'select, insert, update' },
  ask(questions, { kinds }) {
    if (kinds.workspace.length === 0) return null
    const limits = questions.addIn(lockLimits, [])
    const use = questions.addIn(limitUse, [])
    return () => {
      const [maxConcurrentClaims, maxActiveSessions, maxGenerationsPerTask] = use()[0] as number[]
      const used = { maxConcurrentClaims, maxActiveSessions, maxGenerationsPerTask } as LimitUse
      const record = { limits: limitRows.read(limits()[0]!) }
      return { view: { seen: new Map([[THE_WORKSPACE, { record, holding: [], used }]]), counted: 0 } }
    }
  },
  write(workspaceId, _view, { kinds }) {
    const { written } = kinds.workspace
    return written.length === 0
      ? []
      : [
          limitRows.upsert(
            workspaceId,
            written.map(({ limits }) => limits),
          ),
        ]
  },
}
