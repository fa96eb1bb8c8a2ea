import { parsePatch, type StructuredPatch, structuredPatch } from 'diff'
import { type ReactNode, useMemo } from 'react'
import type { DiffSource } from './diff-source.ts'

// Two texts that have nothing in common would take minutes to compare.
const MOST_EDITS = 4_000

export function DiffLines(props: DiffSource & { label?: string; hasNames?: boolean }) {
  const { label = 'Changes', hasNames = true } = props
  const files = useMemo(() => filesOf(props), [props])
  if (files === 'unreadable' && 'patch' in props) return <Unread text={props.patch} />
  if (files === 'unreadable') return null
  if (files === null)
    return <p className="text-row text-muted">The two are too different to compare line by line.</p>
  if (files.every(({ hunks }) => hunks.length === 0))
    return <p className="text-row text-muted">Nothing changed.</p>
  return (
    // biome-ignore lint/a11y/useSemanticElements: a group of files, not of fields
    <div aria-label={label} className="flex min-w-0 flex-col gap-3" role="group">
      {files.map((file, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rebuilt with each diff
        <FileDiff file={file} hasName={hasNames} key={place} />
      ))}
    </div>
  )
}

/** A diff that cannot be read as one is shown as the text it is. */
const Unread = ({ text }: { text: string }) => (
  <pre
    className="focus-inside overflow-x-auto rounded-card border border-line bg-bg p-3 font-mono text-row"
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
    tabIndex={0}
  >
    {text}
  </pre>
)

function filesOf(source: DiffSource): StructuredPatch[] | null | 'unreadable' {
  if ('patch' in source)
    try {
      return parsePatch(source.patch)
    } catch {
      return 'unreadable'
    }
  const patch = structuredPatch('', '', source.before, source.after, '', '', {
    context: 3,
    maxEditLength: MOST_EDITS,
  })
  return patch ? [patch] : null
}

const nameOf = ({ oldFileName, newFileName }: StructuredPatch) =>
  [newFileName, oldFileName].find((name) => name && name !== '/dev/null')?.replace(/^[ab]\//, '')

const KINDS: Record<string, { className: string; says: string }> = {
  '+': { className: 'bg-done-tint', says: 'added' },
  '-': { className: 'bg-bad-tint', says: 'removed' },
}

function FileDiff({ file, hasName }: { file: StructuredPatch; hasName: boolean }) {
  const name = hasName && nameOf(file)
  return (
    <div className="min-w-0 overflow-hidden rounded-card border border-line bg-bg">
      {name && (
        <p className="border-b border-line bg-sunken px-3 py-1.5 font-mono text-row font-medium break-all">
          {name}
        </p>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard */}
      <div className="focus-inside overflow-x-auto py-1 font-mono text-row" tabIndex={0}>
        <div className="w-max min-w-full">
          {file.hunks.map((hunk) => (
            <div
              className="not-first:mt-1 not-first:border-t not-first:border-line not-first:pt-1"
              key={`${hunk.oldStart} ${hunk.newStart}`}
            >
              {numbered(hunk)}
            </div>
          ))}
        </div>
      </div>
    </div>
  )
}

function numbered(hunk: StructuredPatch['hunks'][number]): ReactNode[] {
  let before = hunk.oldStart
  let after = hunk.newStart
  return hunk.lines.map((line, place) => {
    const sign = line[0] ?? ' '
    if (sign === '\\') return null
    const [old, now] = [sign === '+' ? '' : before++, sign === '-' ? '' : after++]
    const kind = KINDS[sign]
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: lines may repeat
      <div className={`flex ${kind?.className ?? ''}`} key={place}>
        <span
          aria-hidden="true"
          className="w-12 shrink-0 pr-2 text-right text-faint select-none max-sm:hidden"
        >
          {old}
        </span>
        <span aria-hidden="true" className="w-12 shrink-0 pr-2 text-right text-faint select-none max-sm:w-9">
          {now}
        </span>
        <span aria-hidden="true" className="w-4 shrink-0 select-none">
          {sign === ' ' ? '' : sign === '-' ? '−' : sign}
        </span>
        {kind && <span className="sr-only">{kind.says}</span>}
        <span className="pr-4 whitespace-pre">{line.slice(1)}</span>
      </div>
    )
  })
}
