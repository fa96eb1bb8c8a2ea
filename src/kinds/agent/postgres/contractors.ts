import type pg from 'pg'
import type { ContractorToSettle } from '../../../kernel/store/run-store.ts'
import { isLive } from '../../../postgres/statements/run-states.ts'
import { inScope } from '../../task/postgres/due.ts'
import { MISSION_ENDED } from '../rules/contractor.ts'

// Contractors of missions that have ended, which hold nothing and have no run: a run that has handed in its result still writes
// what it used. And contractors that ended with a mission that is open again. $1 limit.
const TO_SETTLE = `select * from (
    select a.workspace_id as "workspaceId", a.slug, a.mission_id as "missionId" from agents a
      join missions m on m.workspace_id = a.workspace_id and m.mission_id = a.mission_id
     where a.kind = 'contractor' and a.state <> 'terminated' and m.completed_at is not null
       and not exists (select from tasks t
         where t.workspace_id = a.workspace_id and t.agent = a.slug and t.claim_state = 'active')
       and not exists (select from runs r
         where r.workspace_id = a.workspace_id and r.agent = a.slug and ${isLive('r.status')})
    union all
    select a.workspace_id, a.slug, a.mission_id from missions m
      join agents a on a.workspace_id = m.workspace_id and a.mission_id = m.mission_id
     where m.completed_at is null and cardinality(m.contractors) > 0
       and a.kind = 'contractor' and a.state = 'terminated' and a.state_reason = '${MISSION_ENDED}') c
   order by random() limit $1`

export const contractorsToSettle = (pool: pg.Pool, limit: number, only?: number) =>
  inScope<ContractorToSettle & pg.QueryResultRow>(pool, only, TO_SETTLE, [limit])
