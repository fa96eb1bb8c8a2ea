import { Button } from '../../parts/button.tsx'
import { Markdown } from '../../parts/markdown.tsx'
import { Moment } from '../../parts/moment.tsx'
import { ProblemBox } from '../../parts/problem.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import type { Mission } from '../missions/progress.tsx'
import { useReportOf } from './use-mission.ts'

export function MissionReport({ mission }: { mission: Mission }) {
  if (mission.stateType !== 'terminal')
    return <p className="text-muted">The report is written when the mission has ended.</p>
  return <Report id={mission.id} title={mission.title} />
}

/** The text is here already, so the file is made of it. */
function download(name: string, markdown: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([markdown], { type: 'text/markdown' }))
  link.download = `${name.replace(/[^\p{L}\p{N}]+/gu, '-').slice(0, 80)}.md`
  link.click()
  URL.revokeObjectURL(link.href)
}

function Report({ id, title }: { id: string; title: string }) {
  const { data, error, refetch } = useReportOf(id)
  if (error && !data) return <ProblemBox error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton rows={6} />
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-3 text-row text-muted">
        <span>
          Version {data.version}, <Moment at={data.at} />
        </span>
        <Button icon="download" onClick={() => download(title, data.markdown)} size="small">
          Download
        </Button>
      </div>
      <div className="max-w-prose">
        <Markdown text={data.markdown} />
      </div>
    </div>
  )
}
