import type { z } from 'zod'
import type { WorkerBody } from '../kinds/session/shapes.ts'
import type { taskView } from '../kinds/task/acts/views.ts'
import type { FailBody, NextBody } from '../kinds/task/shapes/claims.ts'
import type { TaskCreate } from '../kinds/task/shapes/tasks.ts'

export type TaskInput = z.input<typeof TaskCreate>
export type Task = ReturnType<typeof taskView>
export type WorkerInput = Omit<z.input<typeof WorkerBody>, 'worker'>
export interface NextOptions extends Omit<z.input<typeof NextBody>, 'agent' | 'session' | 'limit'> {
  signal?: AbortSignal
}
export interface SubmitAndNextOptions extends Omit<NextOptions, 'waitMs'> {
  summary?: string | undefined
}
export type FailOptions = Partial<Pick<z.input<typeof FailBody>, 'failureClass' | 'retryAt'>> & {
  /** false: a retry would not help (ADE 8). */
  retryable?: boolean
}

/** A claimed task. Every write by its holder must carry the session and generation. */
export interface Claim {
  task: Task
  taskId: string
  generation: number
  session: string
  agent: string
  attempt: number
  leaseExpiresAt: string
  ttlMs: number
}

/** A claim and the result of its task. */
export interface ClaimResult {
  claim: Pick<Claim, 'taskId' | 'session' | 'generation'>
  result: unknown
  summary?: string | undefined
}
