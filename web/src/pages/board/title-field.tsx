import { useEffect, useRef, useState } from 'react'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { TextInput } from '../../parts/text-input.tsx'

const TYPED_MS = 250

/** Narrows while it is typed. */
export function TitleField({
  value,
  onChange,
}: {
  value: string
  onChange: (q: string | undefined) => void
}) {
  const field = useRef<HTMLInputElement>(null)
  const [typed, setTyped] = useState(value)
  const sent = useRef(value)
  const latest = useRef(onChange)
  useEffect(() => {
    latest.current = onChange
  })
  useEffect(() => {
    // The address changed by other means, such as going back.
    if (value !== sent.current) setTyped(value)
    sent.current = value
  }, [value])
  useEffect(() => {
    const timer = setTimeout(() => {
      const q = typed.trim()
      if (q === sent.current) return
      sent.current = q
      latest.current(q === '' ? undefined : q)
    }, TYPED_MS)
    return () => clearTimeout(timer)
  }, [typed])
  useShortcuts('Filter', {
    '/': { words: 'Filter by words of the title', run: () => field.current?.focus() },
  })
  return (
    <TextInput
      aria-label="Filter by words of the title"
      className="h-7! max-w-48 min-w-16 shrink text-row max-sm:h-9! max-sm:max-w-44"
      maxLength={200}
      onChange={(event) => setTyped(event.target.value)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        setTyped('')
        field.current?.blur()
      }}
      placeholder="Filter by title  /"
      ref={field}
      type="search"
      value={typed}
    />
  )
}
