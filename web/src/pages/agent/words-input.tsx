import { type KeyboardEvent, useState } from 'react'
import { Chip } from '../../parts/chip.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { listIn, listText, suggested } from './words-list.ts'

/**
 * A list of words as chips. Enter, a comma and leaving the field add what is written, Backspace in the empty field removes the last
 * one. `inUse` are words that others have: the most used are offered.
 */
export function WordsInput(props: {
  value: string
  onChange: (value: string) => void
  /** What one of them is, for screen readers: "capability". */
  what: string
  inUse?: readonly string[]
  placeholder?: string
}) {
  const { value, onChange, what, inUse = [], placeholder } = props
  const [written, setWritten] = useState('')
  const chosen = listIn(value)
  const offered = suggested(inUse, chosen)
  const add = (text: string) => {
    setWritten('')
    onChange(listText([...new Set([...chosen, ...listIn(text)])]))
  }
  const remove = (word: string) => onChange(listText(chosen.filter((one) => one !== word)))
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && written.trim() !== '') {
      event.preventDefault()
      add(written)
    }
    if (event.key === 'Backspace' && written === '' && chosen.length > 0) remove(chosen.at(-1)!)
  }
  return (
    <span className="flex min-w-0 flex-col gap-1.5">
      {chosen.length > 0 && (
        <span className="flex flex-wrap gap-1.5">
          {chosen.map((word) => (
            <Chip
              key={word}
              onRemove={() => remove(word)}
              removeLabel={`Remove ${what} ${word}`}
              title={word}
            >
              {word}
            </Chip>
          ))}
        </span>
      )}
      <TextInput
        autoComplete="off"
        onBlur={() => written.trim() !== '' && add(written)}
        onChange={({ target }) => (/[,\n]/.test(target.value) ? add(target.value) : setWritten(target.value))}
        onKeyDown={onKeyDown}
        placeholder={chosen.length === 0 ? placeholder : undefined}
        spellCheck={false}
        value={written}
      />
      {offered.length > 0 && (
        <span className="flex flex-wrap items-center gap-1.5 text-label text-muted">
          In use:
          {offered.map((word) => (
            <button
              aria-label={`Add ${what} ${word}`}
              className="touchable inline-flex h-6 max-w-full items-center rounded-chip border border-line px-1.5 font-medium text-ink hover:bg-hover"
              key={word}
              onClick={() => onChange(listText([...chosen, word]))}
              type="button"
            >
              <span className="truncate">{word}</span>
            </button>
          ))}
        </span>
      )}
    </span>
  )
}
