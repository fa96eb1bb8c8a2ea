import { type ReactNode, useEffect, useSyncExternalStore } from 'react'
import { HUE_TEXT } from '../theme/hues.ts'
import type { IconName } from '../theme/icons.ts'
import { Icon } from './icon.tsx'
import { IconButton } from './icon-button.tsx'

interface ToastAct {
  words: string
  run: () => void
}

interface Toast {
  /** The same id replaces the toast that has it. */
  id?: string
  kind?: 'done' | 'bad' | 'note'
  title: string
  text?: ReactNode
  act?: ToastAct
  /** Null: it stays until it is closed. Refusals stay longer than news. */
  lastsMs?: number | null
}

const MOST_TOASTS = 4
const LOOKS = {
  done: { icon: 'check', className: HUE_TEXT.done },
  bad: { icon: 'warning', className: HUE_TEXT.bad },
  note: { icon: 'info', className: 'text-muted' },
} as const satisfies Record<string, { icon: IconName; className: string }>

interface ShownToast extends Toast {
  id: string
  /** How often it was said while it was on the screen. */
  times: number
}

let shown: ShownToast[] = []
let made = 0
const listeners = new Set<() => void>()

function show(next: typeof shown): void {
  shown = next
  for (const listener of listeners) listener()
}

/** Says what happened, at the edge of the page. The same news again is one toast with a count. Returns its id. */
export function toast(one: Toast): string {
  const same = one.id === undefined ? shown.find((other) => isSameNews(other, one)) : undefined
  const id = one.id ?? same?.id ?? `toast-${++made}`
  const next = { ...one, id, times: (same?.times ?? 0) + 1 }
  show([...shown.filter((other) => other.id !== id), next].slice(-MOST_TOASTS))
  return id
}

const isSameNews = (one: Toast, other: Toast) => one.kind === other.kind && one.title === other.title

const closeToast = (id: string) => show(shown.filter((one) => one.id !== id))

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** The one place of toasts, and one polite live region: a screen reader hears them without losing its place. */
export function Toasts() {
  const toasts = useSyncExternalStore(subscribe, () => shown)
  return (
    <section
      aria-label="Messages"
      aria-live="polite"
      className="pointer-events-none fixed right-4 bottom-4 z-50 flex w-88 max-w-[calc(100vw-2rem)] flex-col gap-2 max-sm:bottom-18"
    >
      {toasts.map((one) => (
        <ToastCard key={one.id} toast={one} />
      ))}
    </section>
  )
}

function ToastCard({ toast: one }: { toast: ShownToast }) {
  const { id, kind = 'note', title, times, text, act, lastsMs = kind === 'bad' ? 12_000 : 6_000 } = one
  // biome-ignore lint/correctness/useExhaustiveDependencies: said again, it stays as long again
  useEffect(() => {
    if (lastsMs === null) return
    const timer = setTimeout(() => closeToast(id), lastsMs)
    return () => clearTimeout(timer)
  }, [id, lastsMs, times])
  const { icon, className } = LOOKS[kind]
  return (
    <div className="pointer-events-auto flex animate-rise items-start gap-2 rounded-dialog bg-raised p-3 shadow-float">
      <Icon className={`mt-0.5 ${className}`} name={icon} />
      <div className="min-w-0 flex-1 text-row">
        <p className="font-medium break-words text-ink">
          {title}
          {times > 1 && <span className="ml-2 font-normal text-muted">×{times}</span>}
        </p>
        {text && <div className="mt-0.5 break-words text-muted">{text}</div>}
        {act && (
          <button
            className="touchable mt-1 font-medium text-accent hover:underline"
            onClick={() => {
              closeToast(id)
              act.run()
            }}
            type="button"
          >
            {act.words}
          </button>
        )}
      </div>
      <IconButton className="-m-1" icon="close" label="Close" onClick={() => closeToast(id)} size="small" />
    </div>
  )
}
