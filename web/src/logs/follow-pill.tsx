import { Icon } from '../parts/icon.tsx'
import { countText } from '../parts/wording.ts'

/** Shows whether the end is followed and what is new there; a click goes there. */
export function FollowPill(props: {
  isFollowing: boolean
  isLive: boolean
  newCount: number
  /** What is counted: "line", "step". */
  noun: string
  onFollow: () => void
}) {
  const { isFollowing, isLive, newCount, noun, onFollow } = props
  if (isFollowing && !isLive) return null
  const fresh = newCount > 0 ? `${countText(newCount)} new ${noun}${newCount === 1 ? '' : 's'}` : null
  return (
    <button
      className={`touchable absolute right-8 bottom-3 z-10 inline-flex h-7 items-center gap-1.5 rounded-pill px-3 text-label font-medium shadow-float ${isFollowing ? 'bg-raised text-muted' : 'bg-ink text-bg'}`}
      onClick={onFollow}
      type="button"
    >
      <Icon name="arrow-down" size={12} />
      <span aria-live="polite">{isFollowing ? 'following' : (fresh ?? 'to the end')}</span>
    </button>
  )
}
