/** What the browser allows. */

/** `impossible`: it shows notifications of no page, or of none that is served like this one. */
export type Allowed = NotificationPermission | 'impossible'

// Browsers give notifications and locks to pages of https and of this machine alone.
const hasBoth = () => isSecureContext && 'Notification' in window && 'locks' in navigator

/**
 * On phones, browsers have the class and show only notifications of service workers: to make one throws. Where nobody has allowed
 * any, one that is made is not shown.
 */
function canBeMade(): boolean {
  try {
    new Notification('').close()
    return true
  } catch {
    return false
  }
}

let isPossible: boolean | undefined

export function allowedNow(): Allowed {
  if (!hasBoth()) return 'impossible'
  const { permission } = Notification
  if (permission !== 'default') return permission
  isPossible ??= canBeMade()
  return isPossible ? permission : 'impossible'
}

/** The browser asks the person, unless it knows the answer. Only after a click: browsers refuse it otherwise. */
export const askBrowser = (): Promise<NotificationPermission> => Notification.requestPermission()
