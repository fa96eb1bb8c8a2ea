import { Icon } from './icon.tsx'
import { countText } from './wording.ts'

/** Above a list that is scrolled: what is new waits until it is asked for. */
export function NewerPill({ count, onShow }: { count: number; onShow: () => void }) {
  return (
    <button
      className="touchable absolute top-10 left-1/2 inline-flex h-7 -translate-x-1/2 items-center gap-1.5 rounded-pill bg-ink px-3 text-label font-medium text-bg shadow-float"
      onClick={onShow}
      type="button"
    >
      <Icon name="arrow-up" size={12} />
      {countText(count)} newer
    </button>
  )
}
