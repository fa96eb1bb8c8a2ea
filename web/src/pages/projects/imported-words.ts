import { countText } from '../../parts/wording.ts'
import { shortKey } from '../../requests/act-words.ts'
import type { Imported } from './use-projects.ts'

/** What an import did, in words. Pure. */

const tasks = (count: number) => `${countText(count)} ${count === 1 ? 'task' : 'tasks'}`

const MOST_NAMED = 5

const named = (keys: readonly string[]) => {
  const more = keys.length - MOST_NAMED
  return keys.slice(0, MOST_NAMED).map(shortKey).join(', ') + (more > 0 ? ` and ${countText(more)} more` : '')
}

export function importedWords({ created, updated, unchanged, notInPlan, notTaken }: Imported) {
  const parts = [
    created > 0 && `${tasks(created)} created`,
    updated > 0 && `${tasks(updated)} changed`,
    unchanged > 0 && `${tasks(unchanged)} as before`,
  ].filter(Boolean)
  const notes = [
    notInPlan.length > 0 && `The plan does not name ${named(notInPlan)}: they stay.`,
    notTaken.length > 0 &&
      `Not changed, since a task keeps them: ${notTaken
        .slice(0, MOST_NAMED)
        .map(({ key, fields }) => `${fields.join(', ')} of ${shortKey(key)}`)
        .join('; ')}.`,
  ].filter(Boolean)
  return {
    title: `The plan is imported: ${parts.length > 0 ? parts.join(', ') : 'it has no tasks'}.`,
    ...(notes.length > 0 && { text: notes.join(' '), lastsMs: null }),
  }
}
