import type pg from 'pg'
import type { ServerStep } from '../../kernel/store/store.ts'

/** The pools of a store, and the only way to write. */
export interface Connections {
  /** Their transactions are read-only: the database refuses a write through them. */
  readonly readers: pg.Pool
  readonly writers: pg.Pool
  /** For heartbeats and the leader lease: a queue of work before them must not make this node look dead. */
  readonly control: pg.Pool
  /** For output of runs and notices to other nodes: neither waits for what is decided, nor holds it up. */
  readonly output: pg.Pool
  transact<T>(workspaceId: number, step: ServerStep<T>): Promise<T>
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
