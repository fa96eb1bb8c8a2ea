import { moneyText } from './wording.ts'

type Room = 'words' | 'short' | false

interface Props {
  usd: string | number | null
  /** Not paid by use, as with a subscription: what it would cost at list prices. `short` where there is no room for the word. */
  notional?: Room
  /** Spent by simulated agents: nobody pays it, and no total counts it. */
  simulated?: Room
}

/** Two digits, exact on hover. What is unknown is not 0, and what nobody pays says so. */
export function Money({ usd, notional = false, simulated = false }: Props) {
  if (usd === null) return <span className="whitespace-nowrap text-faint">{moneyText(null)}</span>
  if (simulated)
    return (
      <span
        className="whitespace-nowrap text-muted tabular-nums"
        title={`$${usd} of simulated money: nobody pays it, and no total counts it`}
      >
        {moneyText(usd)} {simulated === 'words' ? 'simulated' : <span aria-hidden="true">sim.</span>}
        {simulated === 'short' && <span className="sr-only">simulated</span>}
      </span>
    )
  return (
    <span
      className="whitespace-nowrap tabular-nums"
      title={notional ? `$${usd} at list prices, not paid by use` : `$${usd}`}
    >
      {notional === 'short' && <span className="text-muted">≈ </span>}
      {moneyText(usd)}
      {notional === 'words' && <span className="text-muted"> notional</span>}
      {notional === 'short' && <span className="sr-only"> notional</span>}
    </span>
  )
}
