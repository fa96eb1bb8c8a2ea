import { useQueries, useQuery } from '@tanstack/react-query'
import { idCarriedBy } from '../../../../src/pure/ids.ts'
import { missionNamesQuery, projectNamesQuery } from '../../requests/names.ts'
import { NO_GROUP } from './grouped.ts'
import { missionQuery } from './queries.ts'
import type { GroupBy } from './search.ts'

const NONE = { mission: 'No mission', agent: 'No agent', project: 'No project' } as const satisfies Record<
  GroupBy,
  string
>

/** Titles that are read one by one, of missions that the list of the newest ones lacks. */
const MOST_READ = 20

/** What groups are called. */
export function useGroupNames(by: GroupBy, keys: readonly string[]): (key: string) => string {
  const isByMission = by === 'mission'
  const { data: missions, isPending } = useQuery({ ...missionNamesQuery, enabled: isByMission })
  const { data: projects } = useQuery({ ...projectNamesQuery, enabled: by === 'project' })
  const titles = new Map(missions?.items.map(({ id, title }) => [id, title]))
  const unknown =
    isByMission && !isPending
      ? keys.filter((key) => key !== NO_GROUP && !titles.has(key)).slice(0, MOST_READ)
      : []
  const others = useQueries({ queries: unknown.map(missionQuery) })
  for (const { data } of others) if (data) titles.set(data.id, data.title)
  const names = new Map(projects?.items.map(({ slug, name }) => [slug, name]))
  return (key) => {
    if (key === NO_GROUP) return NONE[by]
    if (isByMission) return titles.get(key) ?? `Mission #${idCarriedBy(key) ?? ''}`
    return names.get(key) ?? key
  }
}
