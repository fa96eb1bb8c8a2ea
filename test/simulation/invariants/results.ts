import type { SeenTask } from '../observer.ts'
import type { TaskInvariant } from './invariant.ts'

/** Why an accepted result may be rejected afterwards. */
export const REVIEWED = ['CANCELLED', 'RETRIED', 'HUMAN_REJECTED', 'VERIFICATION_FAILED', 'REPLACED']

/** Accepted, or waiting for a verdict, in the present epoch. */
const standing = ({ results, record }: SeenTask) =>
  results.filter(({ epoch, accepted }) => epoch === record.epoch && accepted !== false)

/** What a person accepted in place of what the rules had accepted, in the present epoch. */
function promoted({ events }: SeenTask): { generation: unknown; session: unknown } | null {
  const last = events.findLast(
    ({ type, to }) => type === 'task_result_promoted' || (to !== null && to !== 'completed'),
  )
  if (last?.type !== 'task_result_promoted') return null
  return { generation: last.payload.promotedGeneration, session: last.payload.promotedSession }
}

const oneAcceptedResultAnEpoch: TaskInvariant = {
  says: 'At most one result is accepted in each epoch.',
  broken: ({ results }) => {
    const epochs = results.filter(({ accepted }) => accepted === true).map(({ epoch }) => epoch)
    return new Set(epochs).size !== epochs.length && `accepted in the epochs ${epochs.join(' ')}`
  },
}

const acceptedResultIsTheHolders: TaskInvariant = {
  says: "An accepted result has its claim's generation and session; it is of the newest one, or the one a person chose.",
  broken: (task) => {
    const { record, claims, results } = task
    const foreign = results.find(
      ({ accepted, generation, session }) =>
        accepted !== false && claims[generation - 1]?.session !== session,
    )
    if (foreign) return `g${foreign.generation} by ${foreign.session}, which never held it`
    const chosen = promoted(task) ?? { generation: record.generation, session: record.session }
    const stale = standing(task).find(
      ({ generation, session }) => generation !== chosen.generation || session !== chosen.session,
    )
    return stale ? `g${stale.generation} was accepted instead of g${chosen.generation}` : null
  },
}

const resultsAreOfTheirEpoch: TaskInvariant = {
  says: 'A result is accepted only for work that was claimed in the same epoch, unless a person chooses it.',
  broken: (task) => {
    if (promoted(task)) return null
    const opened = task.events.findLast(({ type }) => type.startsWith('task_reset'))?.generation ?? 0
    const old = standing(task).find(({ generation }) => generation <= opened)
    return old ? `g${old.generation} was claimed before the reset at g${opened}` : null
  },
}

const completedMeansAccepted: TaskInvariant = {
  says: 'A task is completed exactly when a result is accepted in its present epoch.',
  broken: ({ record, results }) => {
    const has = results.some(({ epoch, accepted }) => epoch === record.epoch && accepted === true)
    return has !== (record.state === 'completed') && `${record.state} ${has ? 'with' : 'without'} a result`
  },
}

const resultHashIsTheStandingResult: TaskInvariant = {
  says: 'The row of a task names the result that is accepted or awaits its verdict, and no other.',
  broken: (task) => {
    const hash = standing(task)[0]?.hash ?? null
    return task.record.resultHash !== hash && `the row has ${task.record.resultHash}, the results ${hash}`
  },
}

const judgedResultsStayJudged: TaskInvariant = {
  says: 'A result that a person or a verifier has judged keeps that verdict, until a person chooses another one.',
  broken: ({ results, resultsBefore, news }) => {
    if (news.some(({ type }) => type === 'task_result_promoted')) return null
    // Rows are only added, so a row keeps its place.
    const changed = resultsBefore.findIndex(
      (was, place) =>
        (was.accepted || REVIEWED.includes(was.rejection!)) && was.accepted !== results[place]?.accepted,
    )
    return changed !== -1 && `${resultsBefore[changed]!.ref} is ${results[changed]?.accepted} now`
  },
}

export const resultInvariants = {
  oneAcceptedResultAnEpoch,
  acceptedResultIsTheHolders,
  resultsAreOfTheirEpoch,
  completedMeansAccepted,
  resultHashIsTheStandingResult,
  judgedResultsStayJudged,
}
