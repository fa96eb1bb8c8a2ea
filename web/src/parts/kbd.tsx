const SHOWN: Record<string, string> = { Mod: 'Ctrl', Space: 'Space', ArrowUp: '↑', ArrowDown: '↓' }

/** Keys of a shortcut: "g i" are two after each other, "Mod+k" two at once. */
export function Kbd({ keys }: { keys: string }) {
  const strokes = keys.split(' ').map((stroke) => stroke.split('+').map((key) => SHOWN[key] ?? key))
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
