import { useState } from 'react'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { Button } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { countText } from '../../parts/wording.ts'
import { FileDiff } from './file-diff.tsx'
import type { ChangedFile, Changes, ChangesOf, ChangesOfMission } from './use-changes.ts'

const FILES_AT_ONCE = 100
/** Each opened file is a request, and many lines to draw. */
const OPENED_AT_ONCE = 10

type Listed = Pick<Changes, 'files' | 'fileCount' | 'commit' | 'since' | 'folder'>

interface Props {
  of: ChangesOf | ChangesOfMission
  changes: Listed
  opensFirst: boolean
  hasKeys: boolean
}

/** The files with their lines; the first is open, the others open in place. */
export function ChangedFiles({ of, changes, opensFirst, hasKeys }: Props) {
  const { files, fileCount } = changes
  const [opened, setOpened] = useState<ReadonlySet<string> | null>(null)
  const [shown, setShown] = useState(FILES_AT_ONCE)
  const isOpen = (path: string) =>
    opened === null ? opensFirst && path === files[0]?.path : opened.has(path)
  const toggle = (path: string) => {
    const next = new Set(files.map((file) => file.path).filter(isOpen))
    if (!next.delete(path)) next.add(path)
    setOpened(next)
  }
  const openFirst = (count: number) => setOpened(new Set(files.slice(0, count).map(({ path }) => path)))
  const hasOpen = files.some(({ path }) => isOpen(path))
  const toggleAll = () => openFirst(hasOpen ? 0 : OPENED_AT_ONCE)
  if (fileCount === 0) return <p className="text-row text-muted">No file was changed.</p>
  const listed = files.slice(0, shown)
  return (
    <div className="flex min-w-0 flex-col gap-2">
      {hasKeys && <DiffKeys onToggle={toggleAll} />}
      <OpenAll count={files.length} hasKeys={hasKeys} hasOpen={hasOpen} onToggle={toggleAll} />
      <ul
        aria-label="Changed files"
        className="flex min-w-0 flex-col overflow-hidden rounded-card border border-line"
      >
        {listed.map((file) => (
          <li className="min-w-0 border-b border-line last:border-0" key={file.path}>
            <FileRow changes={changes} file={file} isOpen={isOpen(file.path)} onToggle={toggle} />
            {isOpen(file.path) && (
              <div className="border-t border-line bg-raised p-2">
                <FileDiff commit={changes.commit} file={file} of={of} since={changes.since} />
              </div>
            )}
          </li>
        ))}
      </ul>
      <More
        count={fileCount}
        listed={listed.length}
        onMore={() => setShown(files.length)}
        read={files.length}
      />
    </div>
  )
}

function DiffKeys({ onToggle }: { onToggle: () => void }) {
  useShortcuts('Inbox', { d: { words: 'Open or close the diffs', run: onToggle } })
  return null
}

function OpenAll(props: { count: number; hasOpen: boolean; hasKeys: boolean; onToggle: () => void }) {
  const { count, hasOpen, hasKeys, onToggle } = props
  const words = count > OPENED_AT_ONCE ? `Open the first ${OPENED_AT_ONCE}` : 'Open all'
  return (
    <Button
      className="-mb-1 self-end"
      kind="quiet"
      onClick={onToggle}
      size="small"
      {...(hasKeys && { shortcut: 'd' })}
    >
      {hasOpen ? 'Close all' : words}
    </Button>
  )
}

function More(props: { count: number; read: number; listed: number; onMore: () => void }) {
  const { count, read, listed, onMore } = props
  if (listed < read)
    return (
      <Button className="self-start" kind="quiet" onClick={onMore} size="small">
        Show {countText(read - listed)} more files
      </Button>
    )
  return count > read ? (
    <p className="text-label text-muted">
      These are the first {countText(read)} of {countText(count)} files.
    </p>
  ) : null
}

const isThisMachine = () => ['localhost', '127.0.0.1', '[::1]'].includes(location.hostname)

function FileRow(props: {
  file: ChangedFile
  changes: Listed
  isOpen: boolean
  onToggle: (path: string) => void
}) {
  const { file, changes, isOpen, onToggle } = props
  return (
    <div className="flex min-w-0 items-center">
      <button
        aria-expanded={isOpen}
        className="touchable focus-inside flex min-h-8 min-w-0 flex-1 items-center gap-2 px-2 py-1 text-left text-row hover:bg-hover"
        onClick={() => onToggle(file.path)}
        type="button"
      >
        <Icon className="shrink-0 text-muted" name={isOpen ? 'chevron-down' : 'chevron-right'} size={14} />
        <span className="min-w-0 flex-1 font-mono break-all">
          {file.oldPath && <span className="text-muted">{file.oldPath} → </span>}
          {file.path}
        </span>
        {file.status !== 'modified' && (
          <span className="shrink-0 text-label text-muted">{file.status.replace('_', ' ')}</span>
        )}
        <Lines file={file} />
      </button>
      {changes.folder && isThisMachine() && file.status !== 'deleted' && (
        <a
          className="touchable inline-flex items-center px-2 text-row text-accent hover:underline max-sm:hidden"
          href={`vscode://file${changes.folder}/${file.path}`}
          title="Open it in your editor"
        >
          Edit
        </a>
      )}
    </div>
  )
}

function Lines({ file: { isBinary, added, deleted } }: { file: ChangedFile }) {
  if (isBinary) return <span className="shrink-0 text-label text-muted">binary</span>
  return (
    <span className="shrink-0 font-mono text-label whitespace-nowrap tabular-nums">
      <span className="text-done">+{added === null ? '?' : countText(added)}</span>{' '}
      <span className="text-bad">−{deleted === null ? '?' : countText(deleted)}</span>
    </span>
  )
}
