import { useFreshness } from './freshness.ts'

export function LivePill() {
  const { isOffline } = useFreshness()
  if (!isOffline) return null
  return <span className="rounded-pill bg-wait-tint px-2 text-label font-medium text-wait">offline</span>
}
