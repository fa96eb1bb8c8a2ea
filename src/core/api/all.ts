/** Every file of endpoints. A new one is a line here. */
type Files =
  | typeof import('./administration.ts')
  | typeof import('./agents.ts')
  | typeof import('./board.ts')
  | typeof import('./changes.ts')
  | typeof import('./children.ts')
  | typeof import('./claims.ts')
  | typeof import('./comments.ts')
  | typeof import('./coordinator.ts')
  | typeof import('./dead-letters.ts')
  | typeof import('./demo.ts')
  | typeof import('./dependencies.ts')
  | typeof import('./event-streams.ts')
  | typeof import('./events.ts')
  | typeof import('./health.ts')
  | typeof import('./inbox.ts')
  | typeof import('./insight.ts')
  | typeof import('./logs.ts')
  | typeof import('./mission-reads.ts')
  | typeof import('./missions.ts')
  | typeof import('./onboarding.ts')
  | typeof import('./overview.ts')
  | typeof import('./people.ts')
  | typeof import('./plans.ts')
  | typeof import('./projects.ts')
  | typeof import('./prompts.ts')
  | typeof import('./reports.ts')
  | typeof import('./results.ts')
  | typeof import('./routines.ts')
  | typeof import('./run-logs.ts')
  | typeof import('./runs.ts')
  | typeof import('./session.ts')
  | typeof import('./sessions.ts')
  | typeof import('./tasks.ts')
  | typeof import('./workers.ts')

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
