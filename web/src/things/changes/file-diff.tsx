import { useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { Diff } from '../../parts/diff.tsx'
import { Loading } from '../../parts/loaded.tsx'
import { countText } from '../../parts/wording.ts'
import { patchPart } from './patch-part.ts'
import {
  type ChangedFile,
  type Changes,
  type ChangesOf,
  type ChangesOfMission,
  type Since,
  useFileDiff,
} from './use-changes.ts'

const LINES_AT_ONCE = 300

interface Props {
  of: ChangesOf | ChangesOfMission
  since: Since
  file: ChangedFile
  commit: string
}

/** The diff of one file, read when it is opened. */
export function FileDiff(props: Props) {
  const { of, since, file, commit } = props
  const read = useFileDiff(of, since, file.path, commit)
  const { data } = read
  if (!data?.diff) return <Loading read={read} rowHeight={20} rows={4} />
  if (data.isOfOtherWork)
    return <Note>There is newer work than the list above. Check again to see both as they are now.</Note>
  return <Shown diff={data.diff} file={file} />
}

const Note = ({ children }: { children: React.ReactNode }) => (
  <p className="text-row text-muted">{children}</p>
)

function Shown({ diff, file }: { diff: NonNullable<Changes['diff']>; file: ChangedFile }) {
  const [mostLines, setMostLines] = useState(LINES_AT_ONCE)
  if (diff.isBinary) return <Note>A binary file: it cannot be compared by lines.</Note>
  if (!/^@@ /m.test(diff.text)) return <Note>{WITHOUT_LINES[file.status] ?? WITHOUT_LINES.modified}</Note>
  const { patch, linesLeft } = patchPart(diff.text, mostLines)
  return (
    <>
      <Diff hasNames={false} label={`Changes of ${diff.path}`} patch={patch} />
      {linesLeft > 0 ? (
        <p className="mt-1 flex flex-wrap items-center gap-2 text-label text-muted">
          {countText(linesLeft)} more lines{diff.isCut && ', and a rest that is too long to show'}
          <Button kind="quiet" onClick={() => setMostLines(mostLines * 4)} size="small">
            Show more lines
          </Button>
        </p>
      ) : (
        diff.isCut && <p className="mt-1 text-label text-muted">The rest is too long to show.</p>
      )}
    </>
  )
}

const WITHOUT_LINES: Partial<Record<ChangedFile['status'], string>> & { modified: string } = {
  added: 'An empty file.',
  deleted: 'It was an empty file.',
  renamed: 'Renamed. Its content is the same.',
  copied: 'Copied. Its content is the same.',
  modified: 'Its content is the same: only its mode has changed.',
}
