/** What readers of the database see, for tests that ask it directly. */

/** The claims of all generations, as one relation: the active ones are in the rows of their tasks. */
export const CLAIMS = `(select workspace_id, task_id, generation, session, agent, state, acquired_at, ended_at, end_reason from attempts
     where acquired_at is not null
   union all select workspace_id, id, generation, session, agent, claim_state, acquired_at, null, null from tasks
     where claim_state = 'active')`
/** All results, as one relation. */
export const RESULTS = `(select workspace_id, task_id, generation, session, hash, epoch, agent, accepted, null as rejection, data, submitted_at
     from attempts where hash is not null
   union all select workspace_id, task_id, generation, session, hash, epoch, agent, false, rejection, data, submitted_at
     from rejected_results where not overturned)`
