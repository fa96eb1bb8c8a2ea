import type pg from 'pg'
import type { WorkspaceTransaction } from './workspace-transaction.ts'

/** The pools of a store, and the function for all changes other than to tasks and runs. */
export interface Connections {
  readonly readers: pg.Pool
  readonly writers: pg.Pool
  /** For heartbeats and the leader lease: a queue of work before them must not make this node look dead. */
  readonly control: pg.Pool
  change<T>(workspaceId: number, act: (tx: WorkspaceTransaction) => Promise<T>): Promise<T>
}

type Bound<P, F> = {
  [K in keyof F]: F[K] extends (first: P, ...rest: infer A) => infer R ? (...args: A) => R : never
}

/** The same functions with their first parameter bound. */
export function bind<P, F extends Record<string, (first: P, ...rest: never[]) => unknown>>(
  first: P,
  functions: F,
): Bound<P, F> {
  const bound = Object.entries(functions).map(([name, act]) => [
    name,
    (...rest: never[]) => act(first, ...rest),
  ])
  return Object.fromEntries(bound)
}
