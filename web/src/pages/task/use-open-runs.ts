import { useQueryClient } from '@tanstack/react-query'
import { type Shortcuts, useShortcuts } from '../../keys/shortcuts.ts'
import { useGo } from '../../links.tsx'
import type { useTaskRuns } from '../../things/task/use-task.ts'

const KEYS = ['1', '2', '3', '4', '5', '6', '7', '8', '9'] as const

/** The keys 1 to 9 open the last run of that generation, if the runs are on the page. */
export function useOpenRuns(id: string): void {
  const queries = useQueryClient()
  const go = useGo()
  const open = (generation: number) => {
    const read = queries.getQueryData<{ body: ReturnType<typeof useTaskRuns>['data'] }>(['task-runs', id])
    const run = read?.body?.items
      .filter((one) => one.generation === generation)
      .sort((a, b) => (a.id < b.id ? 1 : -1))[0]
    if (run) go(`/runs/${run.id}`)
  }
  const shortcuts: Shortcuts = Object.fromEntries(
    KEYS.map((key) => [key, { words: `Open the run of generation ${key}`, run: () => open(Number(key)) }]),
  )
  useShortcuts('Runs of the task', shortcuts)
}
