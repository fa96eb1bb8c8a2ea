const LOOKS: Record<string, { classes: string; words: string }> = {
  '+': { classes: 'bg-done-tint text-done', words: 'added: ' },
  '-': { classes: 'bg-bad-tint text-bad', words: 'removed: ' },
}

/** An edit as the lines it takes away and adds. */
export function EditText({ text }: { text: string }) {
  return (
    <pre className="overflow-hidden rounded-chip border border-line bg-sunken py-1 font-mono text-row">
      {text.split('\n').map((line, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines of one text never change their order
        <EditLine key={row} line={line} />
      ))}
    </pre>
  )
}

function EditLine({ line }: { line: string }) {
  const look = LOOKS[line[0] ?? '']
  return (
    <span className={`block min-h-5 px-3 wrap-anywhere whitespace-pre-wrap ${look?.classes ?? ''}`}>
      {look && <span className="sr-only select-none">{look.words}</span>}
      {line}
    </span>
  )
}
