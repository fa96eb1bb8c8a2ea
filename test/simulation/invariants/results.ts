import type { SeenTask } from '../observer.ts'
import type { TaskInvariant } from './invariant.ts'

/** Why a result that was taken may be turned down afterwards. */
export const REVIEWED = ['CANCELLED', 'RETRIED', 'HUMAN_REJECTED', 'VERIFICATION_FAILED']

/** Accepted, or waiting for a verdict, in the present epoch. */
const standing = ({ results, record }: SeenTask) =>
  results.filter(({ epoch, accepted }) => epoch === record.epoch && accepted !== false)

const oneAcceptedResultAnEpoch: TaskInvariant = {
  says: 'At most one result is accepted in each epoch.',
  broken: ({ results }) => {
    const epochs = results.filter(({ accepted }) => accepted === true).map(({ epoch }) => epoch)
    return new Set(epochs).size !== epochs.length && `accepted in the epochs ${epochs.join(' ')}`
  },
}

const acceptedResultIsTheHolders: TaskInvariant = {
  says: "An accepted result has its claim's generation and session, and no newer claim was granted before it.",
  broken: (task) => {
    const { record, claims, results } = task
    const foreign = results.find(
      ({ accepted, generation, session }) =>
        accepted !== false && claims[generation - 1]?.session !== session,
    )
    if (foreign) return `g${foreign.generation} by ${foreign.session}, who never held it`
    const stale = standing(task).find(({ generation }) => generation !== record.generation)
    return stale ? `g${stale.generation} was taken at g${record.generation}` : null
  },
}

const resultsAreOfTheirEpoch: TaskInvariant = {
  says: 'A result is accepted only for work that was claimed in the same epoch.',
  broken: (task) => {
    const opened = task.events.findLast(({ type }) => type === 'task_reset')?.generation ?? 0
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
    return task.record.resultHash !== hash && `the row says ${task.record.resultHash}, the results ${hash}`
  },
}

const judgedResultsStayJudged: TaskInvariant = {
  says: 'A result that a person or a verifier has judged keeps that verdict.',
  broken: ({ results, resultsBefore }) => {
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
