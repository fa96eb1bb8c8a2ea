import { useRouter } from '@tanstack/react-router'
import { Problem } from '../../../../src/client/client.ts'
import { Button } from '../../parts/button.tsx'
import { Loading } from '../../parts/loaded.tsx'
import { Markdown } from '../../parts/markdown.tsx'
import { Moment } from '../../parts/moment.tsx'
import { saveFile } from '../../parts/save-file.ts'
import type { Mission } from '../../things/mission/progress.tsx'
import { withPageLinks } from './report-links.ts'
import { SaveAsRoutine } from './save-as-routine.tsx'
import { useReportOf } from './use-mission.ts'

export function MissionReport({ mission }: { mission: Mission }) {
  if (mission.stateType !== 'terminal')
    return <p className="text-muted">The report is written when the mission has ended.</p>
  return <Report mission={mission} />
}

const isNotThere = (error: unknown) => error instanceof Problem && error.code === 'NOT_FOUND'

const fileName = (title: string) => `${title.replace(/[^\p{L}\p{N}]+/gu, '-').slice(0, 80)}.md`

function Report({ mission }: { mission: Mission }) {
  const { id, title } = mission
  const { basepath } = useRouter()
  const read = useReportOf(id)
  const { data, error } = read
  if (!data && isNotThere(error))
    return (
      <p className="text-muted" role="status">
        The report is being written. It appears here when it is done.
      </p>
    )
  if (!data) return <Loading read={read} rows={6} />
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-3 text-row text-muted">
        <span>
          Version {data.version}, <Moment at={data.at} />
        </span>
        <Button
          icon="download"
          onClick={() => saveFile(fileName(title), [data.markdown], 'text/markdown')}
          size="small"
        >
          Download
        </Button>
        <SaveAsRoutine mission={mission} />
      </div>
      <div className="max-w-prose">
        <Markdown text={withPageLinks(data.markdown, location.origin + basepath)} />
      </div>
    </div>
  )
}
