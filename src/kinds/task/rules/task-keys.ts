/** Task keys (Coditect 3) and work product references (Coditect 3.6). */

export interface TaskKey {
  track: string
  sequence: number
  description: string
  subtask: number | null
}

const TASK_KEY = /^([A-Z]{1,8})-([0-9]{3})-([a-zA-Z0-9_-]{1,50})(?:::([1-9][0-9]{0,5}))?$/

/** `B-003-implement-dashboard::2` → its parts, or null when the text is not a task key. */
export function parseTaskKey(text: string): TaskKey | null {
  const match = TASK_KEY.exec(text)
  if (!match || match[2] === '000') return null
  return {
    track: match[1]!,
    sequence: Number(match[2]),
    description: match[3]!,
    subtask: match[4] === undefined ? null : Number(match[4]),
  }
}

export function formatTaskKey(key: TaskKey): string {
  const base = `${key.track}-${String(key.sequence).padStart(3, '0')}-${key.description}`
  return key.subtask === null ? base : `${base}::${key.subtask}`
}

/**
 * The track queue of a task. Parts of a task are in a second queue of their track: a track may be reserved for one agent,
 * but a task is divided to be shared.
 */
export const trackQueueOf = (key: TaskKey | null) =>
  key === null ? '' : key.subtask === null ? key.track : `${key.track}::`
export const trackQueuesOf = (track: string) => [track, `${track}::`]
export const trackOfQueue = (trackQueue: string) => trackQueue.replace('::', '')

/** The key of the task a subtask belongs to; a task that is no subtask belongs to itself. */
export const parentKey = (key: string) => key.replace(/::\d+$/, '')

/** `wp-<task key or id>-gen<N>-<hash6>`; the hash is of the submitted result, so equal work has an equal reference. */
export const workProductRef = (keyOrId: string, generation: number, hash: string) =>
  `wp-${keyOrId}-gen${generation}-${hash.slice(0, 6)}`
