import { useInboxCount } from '../live/hooks.ts'
import { Button } from '../parts/button.tsx'
import { switchOff, switchOn, useNotifications } from './choice.ts'
import { useTelling } from './use-telling.ts'

/**
 * Tells of what waits, and asks once whether it may: when there is something to tell. It is below the page, so that nothing moves
 * under the pointer.
 */
export function Notifications() {
  const { isOn, allowed, isTelling } = useNotifications()
  const isWaiting = useInboxCount() > 0
  useTelling(isTelling)
  if (isOn !== null || !isWaiting || allowed === 'denied' || allowed === 'impossible') return null
  return (
    <section
      aria-label="Notifications"
      className="flex flex-wrap items-center justify-center gap-x-3 gap-y-2 border-t border-line bg-raised px-4 py-2 text-row"
    >
      <p role="status">Something waits for you. Be notified of such things while you look elsewhere?</p>
      <div className="flex gap-2">
        <Button onClick={() => void switchOn()} size="small">
          Notify me
        </Button>
        <Button kind="quiet" onClick={switchOff} size="small">
          Not now
        </Button>
      </div>
    </section>
  )
}
