import { useEffect, useState } from 'react'
import { Icon } from './icon.tsx'
import { toast } from './toasts.tsx'

export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // Pages without https have no clipboard of their own.
    toast({
      kind: 'bad',
      title: 'The browser did not allow copying.',
      text: 'Select the text and copy it by hand.',
    })
    return false
  }
}

/** Text that is copied with one click: an id, a command. `shown` is drawn instead of all of it. */
export function Copyable({
  text,
  shown,
  isBlock = false,
}: {
  text: string
  shown?: string
  isBlock?: boolean
}) {
  const [isCopied, setIsCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setIsCopied(false), 1_500)
    return () => clearTimeout(timer)
  }, [isCopied])
  const form = isBlock
    ? 'flex w-full items-start gap-3 rounded-card border border-line bg-sunken px-3 py-2 text-left'
    : // Its margins reach beyond what contains it, which is no wider than the text.
      'inline-flex max-w-[calc(100%+8px)] items-center gap-1 rounded-chip px-1 -mx-1 hover:bg-hover'
  return (
    <button
      aria-label={`Copy ${shown ?? text}`}
      className={`group font-mono text-row text-ink ${form}`}
      onClick={async () => setIsCopied(await copyText(text))}
      type="button"
    >
      <span className={isBlock ? 'min-w-0 flex-1 break-words whitespace-pre-wrap' : 'truncate'}>
        {shown ?? text}
      </span>
      <Icon
        className={isCopied ? 'text-done' : `text-faint ${isBlock ? 'mt-0.5' : 'group-hover:text-ink'}`}
        name={isCopied ? 'check' : 'copy'}
        size={14}
      />
      <span aria-live="polite" className="sr-only">
        {isCopied ? 'Copied' : ''}
      </span>
    </button>
  )
}
