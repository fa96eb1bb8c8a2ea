/** The bar in two tones: one hand's half and the other's. */
export function BatonBar({ size = 20 }: { size?: number }) {
  return (
    <svg aria-hidden="true" className="shrink-0" fill="none" height={size} viewBox="0 0 20 20" width={size}>
      <path className="stroke-ink" d="M4 16l5.2-5.2" strokeLinecap="round" strokeWidth="4.5" />
      <path className="stroke-accent" d="M10.8 9.2L16 4" strokeLinecap="round" strokeWidth="4.5" />
      <path className="stroke-bg" d="M8.6 8.6l2.8 2.8" strokeWidth="1.2" />
    </svg>
  )
}

export function Wordmark() {
  return (
    <span className="inline-flex items-center gap-1.5 text-title font-semibold tracking-[-0.02em]">
      <BatonBar />
      Baton
    </span>
  )
}
