import type { z } from 'zod'
import { actsOf } from '../../door/door.ts'
import type { Execution } from '../../door/execution.ts'
import { requireAgent } from '../../door/named-agents.ts'
import type { ServerKernel } from '../../door/server-kernel.ts'
import type { Caller } from '../../kernel/kernel.ts'
import { usableProfile } from '../../kinds/agent/acts/settings.ts'
import { DEMO_AGENTS, DEMO_TAG } from '../../kinds/demo/acts.ts'
import { listMissions } from '../../kinds/mission/postgres/reads.ts'
import { stateOf } from '../../kinds/mission/states.ts'
import { Refused } from '../../pure/errors.ts'
import type { AnswerOf } from '../../pure/shapes.ts'
import * as api from './api.ts'
import type { Onboarding, TryAnswer, TryBody } from './shapes.ts'

/** Whether an agent with these settings could run on this node. They are checked as if they were saved. */
async function tryAdapter(
  kernel: ServerKernel,
  execution: Execution,
  caller: Caller,
  adapterType: string,
  { config, agent }: z.output<typeof TryBody>,
): Promise<AnswerOf<typeof TryAnswer>> {
  if (!execution.adapters(caller.workspaceId).some(({ type }) => type === adapterType))
    throw new Refused('NOT_FOUND', `There is no adapter "${adapterType}" on this node.`)
  const known = agent === undefined ? undefined : (await requireAgent(kernel, caller, agent)).record
  const given = { adapterType, adapterConfig: config }
  const { adapterConfig, model } = await usableProfile(execution, caller, given, known).catch(inItsOwnWords)
  const checks = await execution.probe(caller.workspaceId, {
    adapterType,
    adapterConfig: adapterConfig ?? null,
    model: model ?? null,
    slug: known?.slug ?? null,
  })
  return { type: adapterType, ok: checks.every(({ ok }) => ok), checks }
}

/** The settings of an agent are its adapterConfig; here they are the config. */
function inItsOwnWords(error: unknown): never {
  if (!(error instanceof Refused)) throw error
  const own = (text: string) => text.replaceAll('adapterConfig', 'config')
  const { code, detail, ok: _ok, errors, ...extra } = error.refusal
  const named = (errors as { field: string; message: string }[] | undefined)?.map((one) => ({
    ...one,
    field: own(one.field),
  }))
  throw new Refused(code, own(detail), { ...extra, ...(named && { errors: named }) })
}

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
      listMissions(store.readers, workspaceId, { tag: DEMO_TAG }, 1),
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
