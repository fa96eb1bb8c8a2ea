const TINTS = 8

/** The same agent has the same tint on every page and in every browser. */
function tintOf(slug: string): number {
  let sum = 0
  for (const letter of slug) sum = (sum * 31 + letter.codePointAt(0)!) % 9973
  return (sum % TINTS) + 1
}

/** "dev-1" is D1, "code-reviewer" CR, "planner" PL. */
function monogramOf(slug: string): string {
  const words = slug.split(/[^\p{L}\p{N}]+/u).filter(Boolean)
  const letters =
    words.length > 1
      ? [words[0]!, words.at(-1)!].map((word) => [...word][0])
      : [...(words[0] ?? '?')].slice(0, 2)
  return letters.join('').toUpperCase()
}

/** A monogram tile and the agent's name. */
export function AgentChip(props: { slug: string; size?: number; hasName?: boolean }) {
  const { slug, size = 20, hasName = true } = props
  const tint = tintOf(slug)
  return (
    <span className="inline-flex min-w-0 items-center gap-1.5" title={hasName ? undefined : slug}>
      <span
        aria-hidden="true"
        className="inline-flex shrink-0 items-center justify-center rounded-chip font-semibold"
        style={{
          width: size,
          height: size,
          fontSize: Math.max(size * 0.48, 9),
          color: `var(--agent-${tint})`,
          background: `var(--agent-${tint}-tint)`,
        }}
      >
        {monogramOf(slug)}
      </span>
      <span className={hasName ? 'truncate' : 'sr-only'}>{slug}</span>
    </span>
  )
}
