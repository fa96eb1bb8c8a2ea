import { countText, tokensText } from './wording.ts'

export function Tokens({ count }: { count: number | null }) {
  return (
    <span
      className={`whitespace-nowrap tabular-nums ${count === null ? 'text-faint' : ''}`}
      title={count === null ? undefined : `${countText(count)} tokens`}
    >
      {tokensText(count)}
    </span>
  )
}
