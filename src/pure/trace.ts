/**
 * The ids of traces and spans follow from those of missions, tasks and runs: spans that different nodes send, at different times, meet
 * without anything being handed on. An id has 128 bits, as a trace id has.
 */

/** What a run belongs to, by ids of the API. */
export interface TracedRun {
  id: string
  taskId: string | null
  missionId: string | null
}

const digits = (uuid: string) => uuid.replaceAll('-', '')

/** A trace is a mission; of a task without one, its runs; of a run without a task, the run. */
export const traceIdOf = ({ id, taskId, missionId }: TracedRun) => digits(missionId ?? taskId ?? id)

/** The second half of an id: it has the random part, and is never zero. */
export const spanIdOf = (uuid: string) => digits(uuid).slice(16)

/** As W3C Trace Context says it: programs that trace themselves continue the trace of their run. */
export const traceparentOf = (run: TracedRun) => `00-${traceIdOf(run)}-${spanIdOf(run.id)}-01`
