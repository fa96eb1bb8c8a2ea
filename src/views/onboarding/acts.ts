import { actsOf } from '../../door/door.ts'
import type { Execution } from '../../door/execution.ts'
import { DEMO_AGENTS } from '../../kinds/demo/acts/agents.ts'
import { DEMO_TAG } from '../../kinds/demo/acts.ts'
import { stateOf } from '../../kinds/mission/states.ts'
import type { AnswerOf } from '../../pure/shapes.ts'
import { tryAdapter } from './acts/try-adapter.ts'
import * as api from './api.ts'
import type { Onboarding } from './shapes.ts'

/** What somebody needs to know who uses Baton for the first time. */

type Answer = AnswerOf<typeof Onboarding>

/** As whom programs of agents run here, if this workspace may have such agents. */
const runsAsOn = (execution: Execution, workspaceId: number): Answer['agentsRunAs'] =>
  execution.adapters(workspaceId).find(({ allowed, runsAs }) => allowed && runsAs !== null)?.runsAs ?? null

async function clisFor(execution: Execution, workspaceId: number): Promise<Answer['clis']> {
  const isAllowed = new Map(execution.adapters(workspaceId).map(({ type, allowed }) => [type, allowed]))
  const found = await execution.clis([...isAllowed.keys()])
  return found.map((cli) => ({
    ...cli,
    isAllowed: isAllowed.get(cli.adapterType)!,
    run: /`([^`]+)`/.exec(cli.hint ?? '')?.[1] ?? null,
  }))
}

export const onboardingActs = actsOf(api)({
  readOnboarding: async ({ kernel, execution, started }, { caller }) => {
    const { store } = kernel
    const { workspaceId } = caller
    const ofDemo = Object.keys(DEMO_AGENTS)
    const mayConfigure = caller.rights.has('configure_agents')
    const [clis, tasks, agents, demos] = await Promise.all([
      mayConfigure ? clisFor(execution, workspaceId) : null,
      store.tasks(workspaceId, {}, 1),
      store.agents.list(workspaceId, {}, ofDemo.length + 1),
      store.missions.list(workspaceId, { tag: DEMO_TAG }, 1),
    ])
    const [demo] = demos
    return {
      database: { isEmbedded: started.isEmbedded, version: store.version },
      startMs: started.startMs(),
      clis,
      agentsRunAs: mayConfigure ? runsAsOn(execution, workspaceId) : null,
      hasTasks: tasks.length > 0,
      hasAgents: agents.some(({ record }) => !ofDemo.includes(record.slug)),
      demo: demo ? { missionId: demo.uuid, state: stateOf(demo) } : null,
    }
  },
  tryAdapter: ({ kernel, execution }, { params, body, caller }) =>
    tryAdapter(kernel, execution, caller, params.type, body),
})
