import { useState } from 'react'
import { PageLink } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { Chip } from '../../parts/chip.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Icon } from '../../parts/icon.tsx'
import { ProgressBar } from '../../parts/progress-bar.tsx'
import { shortKey } from '../../requests/act-words.ts'
import { useSession } from '../../requests/session.ts'
import { EditTrack } from './edit-track.tsx'
import { agentsWords, barOf, countsWords, isFull, whyFull } from './track-words.ts'
import type { Project, Track } from './use-projects.ts'

interface Props {
  project: Project
  onImport: () => void
  whyNotImport: string | null
}

/** The tracks of a project: what each is for, how far it is, who works on it. */
export function Tracks({ project, onImport, whyNotImport }: Props) {
  const [edited, setEdited] = useState<Track | null>(null)
  if (project.tracks.length === 0)
    return (
      <Empty
        action={
          <Button disabledReason={whyNotImport} onClick={onImport}>
            Write or choose a plan
          </Button>
        }
        drawing="columns"
        text="Tracks are parts of the work that go on side by side, such as A for the architecture and B for the data. They come with the plan."
        title="No tracks yet"
      />
    )
  return (
    <section aria-labelledby="tracks-of-project" className="flex flex-col gap-3">
      <h2 className="text-title font-semibold" id="tracks-of-project">
        Tracks
      </h2>
      <ul className="flex flex-col gap-3">
        {project.tracks.map((track) => (
          <TrackRow key={track.track} onEdit={() => setEdited(track)} track={track} />
        ))}
      </ul>
      {edited && <EditTrack onClose={() => setEdited(null)} slug={project.slug} track={edited} />}
    </section>
  )
}

function TrackRow({ track, onEdit }: { track: Track; onEdit: () => void }) {
  const { whyNot } = useSession()
  const { track: name, purpose, sequential, holding } = track
  const { percent, parts } = barOf(track)
  const full = whyFull(track)
  return (
    <li className="flex min-w-0 flex-col gap-2 rounded-card border border-line bg-raised p-4">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h3 className="min-w-0 text-body font-semibold break-words">
          Track {name}
          {purpose && <span className="font-normal text-muted"> · {purpose}</span>}
        </h3>
        {sequential && <Chip>one task after the other</Chip>}
        {isFull(track) && <Chip hue={full ? 'ask' : 'go'}>full</Chip>}
        <Button
          aria-label={`Edit track ${name}`}
          className="ml-auto"
          disabledReason={whyNot('operate')}
          icon="edit"
          onClick={onEdit}
          size="small"
        >
          Edit
        </Button>
      </div>
      <ProgressBar
        height={6}
        label={`Progress of track ${name}: ${countsWords(track)}`}
        parts={[...parts]}
        percent={percent}
      />
      <p className="text-row text-muted tabular-nums">
        {countsWords(track)} · {agentsWords(track)}
      </p>
      {holding.length > 0 && <Holding holding={holding} />}
      {full && (
        <div className="flex gap-2 rounded-card bg-ask-tint p-3 text-row" role="note">
          <Icon className="mt-0.5 text-ask" name="info" size={14} />
          <p className="min-w-0 break-words">
            {full.why} <span className="text-muted">{full.next}</span>
          </p>
        </div>
      )}
    </li>
  )
}

const Holding = ({ holding }: { holding: Track['holding'] }) => (
  <ul className="flex flex-wrap gap-x-4 gap-y-1 text-row">
    {holding.map(({ taskId, key, title, agent }) => (
      <li className="flex max-w-full min-w-0 gap-1.5" key={taskId}>
        <PageLink
          className="min-w-0 truncate font-medium hover:text-accent hover:underline"
          title={title}
          to={`/tasks/${taskId}`}
        >
          {key === null ? title : shortKey(key)}
        </PageLink>
        <span className="shrink-0 text-muted">{agent}</span>
      </li>
    ))}
  </ul>
)
