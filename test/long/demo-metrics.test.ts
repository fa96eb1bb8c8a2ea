import { afterAll, beforeAll, expect, test } from 'vitest'
import { openWorkspace } from '../support/http-workspace.ts'
import { until } from '../support/nodes.ts'
import { scrape } from '../support/prometheus.ts'
import { type ServerUnderTest, startServer } from '../support/server.ts'

let server: ServerUnderTest
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.close())

/** What the demonstration causes. */
const CAUSED = [
  ...['baton_claims_total', 'baton_results_total', 'baton_generation_increments_total'],
  ...['baton_claim_duration_seconds_count', 'baton_task_completion_time_seconds_count'],
  ...['baton_generations_per_task_count', 'baton_tasks_created_total', 'baton_completed_tasks'],
  ...['baton_runs_started_total', 'baton_runs_ended_total', 'baton_tokens_total', 'baton_cost_usd_total'],
]

test('the demonstration leaves no figure at zero that it causes', async () => {
  const w = await openWorkspace(server)
  const { missionId } = (await w.post('/demo')).body
  await until(
    async () => {
      const { items } = (await w.call('GET', '/inbox')).body
      for (const { id, actions, digest, generation } of items) {
        const given = actions.includes('answer')
          ? { decision: 'answer', answer: 'green' }
          : actions.includes('approve') && { decision: 'approve' }
        if (given) await w.post(`/inbox/${id}/answer`, { ...given, generation, ...(digest && { digest }) })
      }
      return (await w.call('GET', `/missions/${missionId}`)).body.stateType === 'terminal'
    },
    { lastMs: 500 },
  )
  const scraped = await scrape(server)
  const of = (name: string, labels = {}) => scraped.sum(name, { workspace: w.id, ...labels })
  for (const name of CAUSED) expect(of(name), name).toBeGreaterThan(0)
  expect(of('baton_missions_ended_total', { state: 'completed' })).toBe(1)
  expect(of('baton_runs_started_total', { adapter: 'simulated' })).toBe(of('baton_runs_ended_total'))
  expect(of('baton_cost_usd_total', { basis: 'simulated' })).toBe(of('baton_cost_usd_total'))
})
