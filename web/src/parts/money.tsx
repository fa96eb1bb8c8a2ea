import { moneyText } from './wording.ts'

/** Two digits, exact on hover. What is unknown is not 0. */
export function Money({ usd }: { usd: string | number | null }) {
  return (
    <span
      className={`whitespace-nowrap tabular-nums ${usd === null ? 'text-faint' : ''}`}
      title={usd === null ? undefined : `$${usd}`}
    >
      {moneyText(usd)}
    </span>
  )
}
