import { parentPort } from 'node:worker_threads'
import { checkPlan, type PlanKind, type PlanReading, readPlan } from '../../mission/plan/read.ts'

/** The thread that reads long plans. */

export interface PlanToRead {
  text: string
  /** Undefined: a plan of either kind. */
  kind: PlanKind | undefined
  /** Whether the text is that of a value in JSON, whose problems have no lines. */
  isValue: boolean
}

parentPort!.on('message', ({ text, kind, isValue }: PlanToRead) => {
  const reading: PlanReading = isValue ? checkPlan(JSON.parse(text), kind) : readPlan(text, kind)
  parentPort!.postMessage(reading)
})
