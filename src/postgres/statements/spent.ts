/** What was used, as the ledger has it: all runs, and all claims of agents that Baton does not run. $1 workspace. */

/** What a source s cost as far as it is known, also what a subscription covers. */
export const costOf = (s: string) =>
  `coalesce(${s}.cost_usd + ${s}.notional_usd, ${s}.cost_usd, ${s}.notional_usd)`

/** Whether something is known of a source s but its time: what a program tells nothing of is not nothing. */
export const HAS_TOLD = (s: string) =>
  `(${s}.input_tokens + ${s}.cached_input_tokens + ${s}.output_tokens > 0 or ${s}.cost_usd is not null or ${s}.notional_usd is not null)`

const ofTask = (task: string) =>
  `from usage_sources s where s.workspace_id = $1 and s.task_id = ${task} and ${HAS_TOLD('s')}`

/** What a task cost; null: nothing of it is known. */
export const costOfTask = (task: string) => `(select trim_scale(sum(${costOf('s')}))::text ${ofTask(task)})`

/** Whether a part of what a task cost is simulated money, which nobody pays. */
export const isTaskSimulated = (task: string) =>
  `exists (select from usage_sources s where s.workspace_id = $1 and s.task_id = ${task} and s.is_simulated)`

/** The same of a mission. */
export const isMissionSimulated = (mission: string) =>
  `exists (select from usage_sources s where s.workspace_id = $1 and s.mission_id = ${mission} and s.is_simulated)`

/** What a task cost, with its tokens, as a row. */
export const usedForTask = (task: string) =>
  `(select coalesce(sum(s.input_tokens + s.cached_input_tokens + s.output_tokens), 0)::bigint as tokens,
      trim_scale(sum(${costOf('s')}))::text as usd, coalesce(bool_or(s.is_simulated), false) as "isSimulated" ${ofTask(task)})`
