const SHOWN: Record<string, string> = {
  ...{ Mod: 'Ctrl', Space: 'Space' },
  ...{ ArrowUp: '↑', ArrowDown: '↓', ArrowLeft: '←', ArrowRight: '→' },
}

/** Keys of a shortcut: "g i" are two after each other, "Mod+k" two at once. */
export function Kbd({ keys }: { keys: string }) {
  const strokes = keys.split(' ').map((stroke) => {
    const parts = stroke.split('+')
    // Keys as keyboards label them; alone, a small letter is not the same key as a large one.
    return parts.map((key) => SHOWN[key] ?? (parts.length > 1 && key.length === 1 ? key.toUpperCase() : key))
  })
  return (
    <span className="inline-flex items-center gap-1">
      {strokes.flat().map((key, place) => (
        <kbd
          className="inline-flex h-5 min-w-5 items-center justify-center rounded-chip border border-line bg-bg px-1 font-sans text-label font-medium text-muted"
          // biome-ignore lint/suspicious/noArrayIndexKey: keys of one shortcut never change their order
          key={`${key}${place}`}
        >
          {key}
        </kbd>
      ))}
    </span>
  )
}
