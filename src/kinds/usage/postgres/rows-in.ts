import type { UsageOf, Values } from './asked.ts'

const QUARTER_MS = 900_000
const COLUMNS =
  'u.source_id, u.generation, u.model, u.basis, u.input_tokens, u.cached_input_tokens, u.output_tokens, u.cost_usd, u.work_ms'

/** Rows u of the ledger within the period: whole quarters of an hour, and single rows before and after them. */
export function rowsIn({ from, to, task, mission, model }: UsageOf, values: Values): string {
  const ofModel = model === undefined ? '' : `and u.model = ${values.add(model)}`
  const singles = (since: string, until: string) =>
    `select ${COLUMNS}, u.at from usage u where u.workspace_id = $1 and u.at >= ${since} and u.at < ${until} ${ofModel}`
  // A task or a mission has few sources, and each of them few rows: they are found by their keys.
  if (task !== undefined || mission !== undefined) {
    const wanted =
      task === undefined ? `s.mission_id = ${values.add(mission)}` : `s.task_id = ${values.add(task)}`
    return `select ${COLUMNS}, u.at from usage_sources s join usage u
        on u.workspace_id = $1 and u.source_id = s.source_id and u.generation = s.generation
       where s.workspace_id = $1 and ${wanted} and u.at >= ${values.at(from)} and u.at < ${values.at(to)} ${ofModel}`
  }
  const first = Math.ceil(from / QUARTER_MS) * QUARTER_MS
  const last = Math.max(first, Math.floor(to / QUARTER_MS) * QUARTER_MS)
  const [began, ended, firstQuarter, lastQuarter] = [from, to, first, last].map((ms) => values.at(ms))
  return [
    singles(began!, `least(${firstQuarter}, ${ended})`),
    `select ${COLUMNS}, u.quarter as at from usage_quarters u
      where u.workspace_id = $1 and u.quarter >= ${firstQuarter} and u.quarter < ${lastQuarter} ${ofModel}`,
    singles(lastQuarter!, ended!),
  ].join(' union all ')
}
