import { plainKind } from '../../../postgres/statements/plain-kind.ts'
import { plainRows } from '../../../postgres/statements/plain-rows.ts'
import { arrayLiteral } from '../../../postgres/statements/rows.ts'
import { statement } from '../../../postgres/statements/statements.ts'
import type { StoredKind } from '../../../postgres/statements/stored-kind.ts'
import { grouped } from '../../../pure/grouped.ts'
import { PROJECT_FIELDS, type ProjectRecord, TRACK_FIELDS } from '../record.ts'

const projects = plainKind('project', {
  table: 'projects',
  fields: PROJECT_FIELDS,
  may: 'select, insert, update',
})
const tracks = plainRows('tracks', TRACK_FIELDS, 2)

// The declared tracks of projects, which are locked. $1 workspace, $2 slugs.
const tracksOf = statement(
  'tracks_of_projects',
  `select p.slug, ${tracks.select('t')} from tracks t
     join projects p on p.workspace_id = t.workspace_id and p.project_id = t.project_id
    where t.workspace_id = $1 and p.slug = any($2::text[]) order by t.track`,
)

/** Projects, and their tracks in a table of their own, which claims lock. */
export const storedProjects: StoredKind<'project'> = {
  ...projects,
  tables: { ...projects.tables, tracks: 'select, insert, update' },
  firstCome: ['projects_workspace_id_slug_key'],
  ask(questions, readSet) {
    const read = projects.ask(questions, readSet)
    if (!read) return null
    const rows = questions.addIn(tracksOf, [arrayLiteral(readSet.kinds.project)])
    return (records) => {
      const bySlug = grouped(rows(), ([slug]) => slug as string)
      const { view } = read(records)
      for (const [slug, { record }] of view.seen) {
        const own = (bySlug.get(slug) ?? []).map(([, ...row]) => tracks.read(row))
        record.tracks = own.map(({ projectId: _projectId, ...track }) => track)
      }
      return { view }
    }
  },
  write(workspaceId, view, changes) {
    const changed = changes.kinds.project.written.flatMap((project) => {
      const before = view.kinds.project.seen.get(project.slug)?.record
      return changedTracks(before, project)
    })
    const writes = projects.write(workspaceId, view, changes)
    return changed.length > 0 ? [...writes, tracks.upsert(workspaceId, changed)] : writes
  },
}

const changedTracks = (before: ProjectRecord | undefined, { projectId, tracks }: ProjectRecord) =>
  tracks.filter((track) => !before?.tracks.includes(track)).map((track) => ({ projectId, ...track }))
