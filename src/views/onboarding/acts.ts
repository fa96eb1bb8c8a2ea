import type { z } from 'zod'
import { actsOf } from '../../door/door.ts'
import type { Check, Execution } from '../../door/execution.ts'
import { requireAgent } from '../../door/named-agents.ts'
import type { ServerKernel } from '../../door/server-kernel.ts'
import type { Caller } from '../../kernel/kernel.ts'
import { usableProfile } from '../../kinds/agent/acts/settings.ts'
import { withoutMasks } from '../../kinds/agent/rules/config.ts'
import { type FieldProblem, preciseProblem } from '../../kinds/agent/rules/problems.ts'
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
  { config, runtimeConfig, agent, all }: z.output<typeof TryBody>,
): Promise<AnswerOf<typeof TryAnswer>> {
  if (!execution.adapters(caller.workspaceId).some(({ type }) => type === adapterType))
    throw new Refused('NOT_FOUND', `There is no adapter "${adapterType}" on this node.`)
  const known = agent === undefined ? undefined : (await requireAgent(kernel, caller, agent)).record
  const given = { adapterType, adapterConfig: config, ...(runtimeConfig && { runtimeConfig }) }
  const usable = await usableProfile(execution, caller, given, known).catch((error: unknown) => {
    if (!(error instanceof Refused)) throw error
    if (!all) throw inItsOwnWords(error)
    return error
  })
  const refused = usable instanceof Refused ? usable : null
  const profile = usable instanceof Refused ? checkable(execution, adapterType, config) : usable
  const { adapterConfig = null, model = null } = profile
  const checks = await execution.probe(caller.workspaceId, {
    ...{ adapterType, adapterConfig, model, runtimeConfig },
    slug: known?.slug ?? null,
  })
  const whole = refused ? withRefusal(checks, refused) : checks
  return { type: adapterType, ok: whole.every(({ ok }) => ok), checks: whole }
}

/** What can be checked of settings that could not be saved: without masks, which stand for nothing, and folders that are none. */
function checkable(execution: Execution, adapterType: string, config: Record<string, unknown>) {
  const { cwd, ...rest } = withoutMasks(config)
  const whole = execution.withWholeFolder({
    adapterType,
    adapterConfig: { ...rest, ...(cwd !== undefined && { cwd }) },
  })
  return { adapterConfig: whole.ok ? whole.adapterConfig : rest, model: null }
}

/** The checks, and what of a refusal none of them says. */
function withRefusal(checks: readonly Check[], { refusal }: Refused): Check[] {
  const { detail } = refusal
  const errors = (refusal.errors ?? [{ field: 'adapterConfig', message: detail }]) as FieldProblem[]
  const told = new Set(checks.flatMap(({ problems = [] }) => problems.map(({ field }) => field)))
  const more = errors.map(preciseProblem).filter(({ field }) => !told.has(field))
  if (more.length === 0) return [...checks]
  const added = (name: string, problems: FieldProblem[]): Check => {
    const text = problems.map(({ field, message }) => `${field.replace(/^\w+Config\./, '')} ${message}.`)
    return { name, ok: false, detail: text.join(' '), hint: 'Correct what is named.', problems }
  }
  const isFolder = ({ field }: FieldProblem) => field === 'adapterConfig.cwd'
  const folder = more.filter(isFolder)
  const others = more.filter((one) => !isFolder(one))
  const rest = folder.length > 0 ? checks.filter(({ name }) => name !== 'folder') : checks
  return [
    ...rest,
    ...(folder.length > 0 ? [added('folder', folder)] : []),
    ...(others.length > 0 ? [added('values', others)] : []),
  ]
}

/** The settings of an agent are its adapterConfig; here they are the config. */
function inItsOwnWords({ refusal }: Refused): Refused {
  const own = (text: string) => text.replaceAll('adapterConfig', 'config')
  const { code, detail, ok: _ok, errors, ...extra } = refusal
  const named = (errors as FieldProblem[] | undefined)?.map((one) => ({ ...one, field: own(one.field) }))
  return new Refused(code, own(detail), { ...extra, ...(named && { errors: named }) })
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
      dataFolder: mayConfigure ? started.dataFolder : null,
      agentsRunAs: mayConfigure ? runsAsOn(execution, workspaceId) : null,
      hasTasks: tasks.length > 0,
      hasAgents: agents.some(({ record }) => !ofDemo.includes(record.slug)),
      demo: demo ? { missionId: demo.uuid, state: stateOf(demo) } : null,
    }
  },
  tryAdapter: ({ kernel, execution }, { params, body, caller }) =>
    tryAdapter(kernel, execution, caller, params.type, body),
})
