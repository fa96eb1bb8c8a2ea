/** Every file of endpoints. A new one is a line here. */
type Files =
  | typeof import('./workspace/api.ts')
  | typeof import('./agent/api.ts')
  | typeof import('../views/board/api.ts')
  | typeof import('./run/api/changes.ts')
  | typeof import('./mission/api/children.ts')
  | typeof import('./task/api/claims.ts')
  | typeof import('./comment/api.ts')
  | typeof import('../views/coordinator/api.ts')
  | typeof import('./task/api/dead-letters.ts')
  | typeof import('./demo/api.ts')
  | typeof import('./task/api/dependencies.ts')
  | typeof import('../views/events/streams.ts')
  | typeof import('../views/events/api.ts')
  | typeof import('../views/health/api.ts')
  | typeof import('../views/inbox/api.ts')
  | typeof import('../views/insight/api.ts')
  | typeof import('../views/logs/api.ts')
  | typeof import('./mission/api/reads.ts')
  | typeof import('./mission/api/missions.ts')
  | typeof import('../views/onboarding/api.ts')
  | typeof import('../views/overview/api.ts')
  | typeof import('./task/api/people.ts')
  | typeof import('./mission/api/plans.ts')
  | typeof import('./project/api.ts')
  | typeof import('./run/api/prompts.ts')
  | typeof import('./report/api.ts')
  | typeof import('./task/api/results.ts')
  | typeof import('./routine/api.ts')
  | typeof import('./run/api/logs.ts')
  | typeof import('./run/api/runs.ts')
  | typeof import('./sign-in/api.ts')
  | typeof import('./session/api/sessions.ts')
  | typeof import('./task/api/tasks.ts')
  | typeof import('./session/api/workers.ts')

/** To ask of each export whether it is an `Endpoint` would compare all shapes. */
interface LikeEndpoint {
  method: string
  path: string
  needs: string
}
type EndpointsIn<File> = File extends unknown ? Extract<File[keyof File], LikeEndpoint> : never
type AnyEndpoint = EndpointsIn<Files>

type Method = AnyEndpoint['method']

/** All endpoints by method and path, as in `Api['GET']['/tasks/:id']`. Types alone: a client that imports them loads no shapes. */
export type Api = {
  readonly [M in Method]: { readonly [E in Extract<AnyEndpoint, { method: M }> as E['path']]: E }
}
