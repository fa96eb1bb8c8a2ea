import { inboxEvents } from '../views/inbox/events.ts'
import { agentEvents } from './agent/events.ts'
import { agentKind } from './agent/kind.ts'
import { alertEvents } from './alert/events.ts'
import { alertKind } from './alert/kind.ts'
import { budgetEvents } from './budget/events.ts'
import { budgetKind } from './budget/kind.ts'
import { commentEvents } from './comment/events.ts'
import type { Catalogue } from './events.ts'
import { hookEvents } from './hook/events.ts'
import { hookKind } from './hook/kind.ts'
import { hookDeliveryEvents } from './hook-delivery/events.ts'
import { hookDeliveryKind } from './hook-delivery/kind.ts'
import { keyEvents } from './key/events.ts'
import { keyKind } from './key/kind.ts'
import type { Kind, KindChanges, KindName, KindTypes, KindViews } from './kind.ts'
import { missionEvents } from './mission/events.ts'
import { missionKind } from './mission/kind.ts'
import { modelTierEvents } from './model-tier/events.ts'
import { modelTierKind } from './model-tier/kind.ts'
import { priceEvents } from './price/events.ts'
import { priceKind } from './price/kind.ts'
import { projectEvents } from './project/events.ts'
import { projectKind } from './project/kind.ts'
import { reportEvents } from './report/events.ts'
import { routineEvents } from './routine/events.ts'
import { routineKind } from './routine/kind.ts'
import { runEvents } from './run/events.ts'
import { sessionEvents } from './session/events.ts'
import { sessionKind } from './session/kind.ts'
import { signInKind } from './sign-in/kind.ts'
import { taskEvents } from './task/events.ts'
import { thresholdEvents } from './threshold/events.ts'
import { thresholdKind } from './threshold/kind.ts'
import { usageEvents } from './usage/events.ts'
import { webhookEvents } from './webhook/events.ts'
import { webhookKind } from './webhook/kind.ts'
import { workspaceEvents } from './workspace/events.ts'
import { workspaceKind } from './workspace/kind.ts'

/**
 * The one list of kinds, and of views, with the parts of each. Records are locked in this order. What is pure is here; what stores and
 * acts is loaded by those who need it, so that a queue in a library loads no server.
 */
export const ALL = {
  session: {
    kind: sessionKind,
    events: sessionEvents,
    stored: async () => (await import('./session/postgres/write.ts')).storedSessions,
    acts: async () => [
      ...(await import('./session/acts.ts')).sessionActs,
      ...(await import('./session/acts/workers.ts')).workerActs,
    ],
    upkeep: async () => (await import('./session/upkeep.ts')).sessionSteps,
  },
  agent: {
    kind: agentKind,
    events: agentEvents,
    stored: async () => (await import('./agent/postgres/write.ts')).storedAgents,
    acts: async () => (await import('./agent/acts.ts')).agentActs,
    upkeep: async () => (await import('./agent/upkeep.ts')).agentSteps,
  },
  mission: {
    kind: missionKind,
    events: missionEvents,
    stored: async () => (await import('./mission/postgres/write.ts')).storedMissions,
    acts: async () => [
      ...(await import('./mission/acts.ts')).missionActs,
      ...(await import('./mission/acts.ts')).missionReads,
      ...(await import('./mission/acts/plans.ts')).planActs,
    ],
    upkeep: async () => (await import('./mission/upkeep.ts')).missionSteps,
  },
  routine: {
    kind: routineKind,
    events: routineEvents,
    stored: async () => (await import('./routine/postgres.ts')).storedRoutines,
    acts: async () => (await import('./routine/acts.ts')).routineActs,
    upkeep: async () => (await import('./routine/upkeep.ts')).routineSteps,
  },
  project: {
    kind: projectKind,
    events: projectEvents,
    stored: async () => (await import('./project/postgres.ts')).storedProjects,
    acts: async () => (await import('./project/acts.ts')).projectActs,
  },
  price: {
    kind: priceKind,
    events: priceEvents,
    stored: async () => (await import('./price/postgres.ts')).storedPrices,
    acts: async () => (await import('./price/acts.ts')).priceActs,
  },
  modelTier: {
    kind: modelTierKind,
    events: modelTierEvents,
    stored: async () => (await import('./model-tier/postgres.ts')).storedModelTiers,
    acts: async () => (await import('./model-tier/acts.ts')).modelTierActs,
  },
  key: {
    kind: keyKind,
    events: keyEvents,
    stored: async () => (await import('./key/postgres.ts')).storedKeys,
  },
  signIn: {
    kind: signInKind,
    stored: async () => (await import('./sign-in/postgres.ts')).storedSignIns,
  },
  budget: {
    kind: budgetKind,
    events: budgetEvents,
    stored: async () => (await import('./budget/postgres.ts')).storedBudgets,
    acts: async () => (await import('./budget/acts.ts')).budgetActs,
    upkeep: async () => (await import('./budget/upkeep.ts')).budgetSteps,
  },
  hook: {
    kind: hookKind,
    events: hookEvents,
    stored: async () => (await import('./hook/postgres.ts')).storedHooks,
    acts: async () => (await import('./hook/acts.ts')).hookActs,
  },
  hookDelivery: {
    kind: hookDeliveryKind,
    events: hookDeliveryEvents,
    stored: async () => (await import('./hook-delivery/postgres.ts')).storedHookDeliveries,
  },
  webhook: {
    kind: webhookKind,
    events: webhookEvents,
    stored: async () => (await import('./webhook/postgres.ts')).storedWebhooks,
    acts: async () => (await import('./webhook/acts.ts')).webhookActs,
    upkeep: async () => (await import('./webhook/upkeep.ts')).webhookSteps,
    follows: { webhooks: { from: 'now', where: 'webhooks' } },
  },
  alert: {
    kind: alertKind,
    events: alertEvents,
    stored: async () => (await import('./alert/postgres/alerts.ts')).storedAlerts,
    acts: async () => (await import('./alert/acts.ts')).alertActs,
    upkeep: async () => (await import('./alert/upkeep.ts')).alertSteps,
    follows: { alerts: { from: 'now', where: 'keys' } },
  },
  threshold: {
    kind: thresholdKind,
    events: thresholdEvents,
    stored: async () => (await import('./threshold/postgres.ts')).storedThresholds,
    acts: async () => (await import('./threshold/acts.ts')).thresholdActs,
  },
  workspace: {
    kind: workspaceKind,
    events: workspaceEvents,
    stored: async () => (await import('./workspace/postgres.ts')).storedWorkspace,
    acts: async () => (await import('./workspace/acts.ts')).administrationActs,
  },
  task: {
    events: taskEvents,
    stored: async () => (await import('./task/postgres/tables.ts')).storedTasks,
    acts: async () => [
      ...(await import('./task/acts.ts')).taskActs,
      ...(await import('./task/acts/children.ts')).childActs,
      ...(await import('./task/acts/claim-acts.ts')).claimActs,
      ...(await import('./task/acts/dead-letters.ts')).deadLetterActs,
      ...(await import('./task/acts/dependencies.ts')).dependencyActs,
      ...(await import('./task/acts/people.ts')).peopleActs,
      ...(await import('./task/acts/rejected-results.ts')).resultActs,
    ],
    upkeep: async () => (await import('./task/upkeep.ts')).taskSteps,
    follows: { dependents: { from: 'beginning', where: 'blockedTasks' } },
  },
  run: {
    events: runEvents,
    stored: async () => (await import('./run/postgres/tables.ts')).storedRuns,
    acts: async () => [
      ...(await import('./run/acts.ts')).runActs,
      ...(await import('./run/acts/changes.ts')).changeActs,
      ...(await import('./run/acts/logs/acts.ts')).runLogActs,
      ...(await import('./run/acts/prompts.ts')).promptActs,
    ],
    upkeep: async () => (await import('./run/upkeep.ts')).runSteps,
  },
  usage: {
    events: usageEvents,
    stored: async () => (await import('./usage/postgres/tables.ts')).storedUsage,
    acts: async () => [
      ...(await import('./usage/acts/reads.ts')).usageReads,
      ...(await import('./usage/acts/reports.ts')).usageReports,
    ],
    upkeep: async () => (await import('./usage/upkeep.ts')).usageSteps,
  },
  verification: {
    upkeep: async () => (await import('./verification/upkeep.ts')).verificationSteps,
  },
  comment: {
    events: commentEvents,
    stored: async () => (await import('./comment/postgres.ts')).storedComments,
    acts: async () => (await import('./comment/acts.ts')).commentActs,
  },
  report: {
    events: reportEvents,
    stored: async () => (await import('./report/postgres.ts')).storedReports,
    acts: async () => (await import('./report/acts.ts')).reportActs,
    upkeep: async () => (await import('./report/upkeep.ts')).reportSteps,
    follows: { reports: { from: 'now', where: 'missions' } },
  },
  demo: { acts: async () => (await import('./demo/acts.ts')).demoActs },
  board: { acts: async () => (await import('../views/board/acts.ts')).boardActs },
  coordinator: { acts: async () => (await import('../views/coordinator/acts.ts')).coordinatorActs },
  events: { acts: async () => (await import('../views/events/acts.ts')).eventActs },
  inbox: { events: inboxEvents, acts: async () => (await import('../views/inbox/acts.ts')).inboxActs },
  insight: { acts: async () => (await import('../views/insight/acts.ts')).insightActs },
  logs: { acts: async () => (await import('../views/logs/acts.ts')).logActs },
  onboarding: { acts: async () => (await import('../views/onboarding/acts.ts')).onboardingActs },
  overview: { acts: async () => (await import('../views/overview/acts.ts')).overviewActs },
} as const

/** The files of endpoints, as types: a client that imports them loads no shapes. */
type EndpointFiles =
  | typeof import('./agent/api.ts')
  | typeof import('./alert/api.ts')
  | typeof import('./budget/api.ts')
  | typeof import('./comment/api.ts')
  | typeof import('./demo/api.ts')
  | typeof import('./hook/api.ts')
  | typeof import('./mission/api/children.ts')
  | typeof import('./mission/api/missions.ts')
  | typeof import('./mission/api/plans.ts')
  | typeof import('./mission/api/reads.ts')
  | typeof import('./model-tier/api.ts')
  | typeof import('./price/api.ts')
  | typeof import('./project/api.ts')
  | typeof import('./report/api.ts')
  | typeof import('./routine/api.ts')
  | typeof import('./run/api/changes.ts')
  | typeof import('./run/api/logs.ts')
  | typeof import('./run/api/prompts.ts')
  | typeof import('./run/api/runs.ts')
  | typeof import('./session/api/sessions.ts')
  | typeof import('./session/api/workers.ts')
  | typeof import('./sign-in/api.ts')
  | typeof import('./task/api/claims.ts')
  | typeof import('./task/api/dead-letters.ts')
  | typeof import('./task/api/dependencies.ts')
  | typeof import('./task/api/people.ts')
  | typeof import('./task/api/results.ts')
  | typeof import('./task/api/tasks.ts')
  | typeof import('./threshold/api.ts')
  | typeof import('./usage/api/reads.ts')
  | typeof import('./usage/api/reports.ts')
  | typeof import('./webhook/api.ts')
  | typeof import('./workspace/api.ts')
  | typeof import('../views/board/api.ts')
  | typeof import('../views/coordinator/api.ts')
  | typeof import('../views/events/api.ts')
  | typeof import('../views/events/streams.ts')
  | typeof import('../views/health/api.ts')
  | typeof import('../views/inbox/api.ts')
  | typeof import('../views/insight/api.ts')
  | typeof import('../views/logs/api.ts')
  | typeof import('../views/onboarding/api.ts')
  | typeof import('../views/overview/api.ts')

/** To ask of each export whether it is an `Endpoint` would compare all shapes. */
interface LikeEndpoint {
  method: string
  path: string
  needs: string
}
type EndpointsIn<File> = File extends unknown ? Extract<File[keyof File], LikeEndpoint> : never
type AnyEndpoint = EndpointsIn<EndpointFiles>

/** All endpoints by method and path, as in `Api['GET']['/tasks/:id']`. */
export type Api = {
  readonly [M in AnyEndpoint['method']]: {
    readonly [E in Extract<AnyEndpoint, { method: M }> as E['path']]: E
  }
}

interface Follows {
  /** Where it begins in a workspace that is older than it; a new workspace has all of them from its first event. */
  from: 'beginning' | 'now'
  /** Which workspaces can concern it: those that have something. */
  where: 'blockedTasks' | 'missions' | 'webhooks' | 'keys'
}

/** The followers of the log, by name. */
export const FOLLOWERS: Readonly<Record<string, Follows>> = Object.assign(
  {},
  ...Object.values(ALL).map((one) => ('follows' in one ? one.follows : {})),
)

/** The event catalogue: what is said about each type, once. The log, its filters, the API and the docs are made from it. */
export const CATALOGUE: Catalogue = Object.assign(
  {},
  ...Object.values(ALL).map((one) => ('events' in one ? one.events : {})),
)

type Kinds = { readonly [K in KindName]: Kind<KindTypes[K]> }

/** All kinds of records beside tasks, in the order in which their records are locked. */
export const KINDS: Kinds = Object.fromEntries(
  Object.entries(ALL).flatMap(([name, one]) => ('kind' in one ? [[name, one.kind]] : [])),
) as unknown as Kinds

export const KIND_NAMES = Object.keys(KINDS) as KindName[]

/** The same for each kind. */
export const byKind = <T>(value: (kind: KindName) => T) =>
  Object.fromEntries(KIND_NAMES.map((kind) => [kind, value(kind)])) as Record<KindName, T>

const nothing = { seen: new Map(), counted: 0 }
/** What a batch reads of kinds that it does not name, and of kinds that its store does not hold. */
export const NO_RECORDS: KindViews<KindName> = byKind(() => nothing)
export const NO_KEYS: Readonly<Record<KindName, string[]>> = byKind(() => [])
export const NO_CHANGES = byKind(() => ({ written: [], removed: [] })) as unknown as {
  readonly [K in KindName]: KindChanges<KindTypes[K]>
}
