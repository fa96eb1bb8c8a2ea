import { useState } from 'react'
import { useShortcuts } from '../../keys/shortcuts.ts'

interface Row {
  id: string
  open: () => void
}

/** The keys of the page. Returns where they are in its two lists. */
export function useRowKeys(props: {
  /** In the order of the page. */
  rows: readonly Row[]
  opened: string | undefined
  /** Why this user may not change anything here. */
  refusal: string | null
  onNewWebhook: () => void
  onNewHook: () => void
  onClose: () => void
}): string | null {
  const { rows, opened, refusal, onNewWebhook, onNewHook, onClose } = props
  const [selected, setSelected] = useState<string | null>(null)
  const move = (step: number) => {
    const place = rows.findIndex(({ id }) => id === selected)
    const to = rows[Math.min(Math.max(place + step, 0), rows.length - 1)]
    setSelected(to?.id ?? null)
    document.querySelector(`[data-row="${to?.id}"]`)?.scrollIntoView({ block: 'nearest' })
  }
  useShortcuts('Webhooks', {
    n: { words: 'New webhook', run: onNewWebhook, isOff: refusal !== null },
    h: { words: 'New hook', run: onNewHook, isOff: refusal !== null },
    j: { words: 'Next webhook or hook', run: () => move(1), repeats: true },
    k: { words: 'Previous webhook or hook', run: () => move(-1), repeats: true },
    Enter: {
      words: 'Open it',
      run: () => rows.find(({ id }) => id === selected)?.open(),
      isOff: selected === null,
    },
    Esc: { words: 'Close the panel', run: onClose, isOff: opened === undefined },
  })
  return selected
}
