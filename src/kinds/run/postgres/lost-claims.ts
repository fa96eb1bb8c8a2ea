import type pg from 'pg'
import type { LostClaim } from '../../../kernel/store/run-store.ts'
import { isLive, isNotStarted } from '../../../postgres/statements/run-states.ts'
import { scopedQuery } from '../../../postgres/statements/scoped-query.ts'

// What agents that Baton runs have claimed themselves and no run works on. A run that has not begun may be the one that has
// just claimed it. The claims of each agent by their index ("offset 0").
const CLAIMS_LEFT = `select t.workspace_id as "workspaceId", t.agent, t.uuid, t.id as "taskId", t.generation, t.session
    from agents a
    cross join lateral (select * from tasks t where t.workspace_id = a.workspace_id and t.agent = a.slug and t.claim_state = 'active' offset 0) t
   where a.adapter_type <> 'external' and a.state <> 'terminated' and t.session = 'agent:' || a.slug
     and (t.state = 'running' or t.state = 'assigned' and t.watch ->> 'isOffered' is distinct from 'true')
     and not exists (select from runs r where r.workspace_id = a.workspace_id and r.agent = a.slug and ${isLive('r.status')}
       and (${isNotStarted('r.status')} or r.task_id = t.id and r.generation = t.generation))
   order by row_number() over (partition by a.workspace_id) limit 1000`

export const claimsLeft = (pool: pg.Pool) =>
  scopedQuery<LostClaim & pg.QueryResultRow>(pool, 'baton.scope', 'upkeep', {
    name: 'claims_left',
    text: CLAIMS_LEFT,
  })
