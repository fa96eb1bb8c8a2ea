import { useSyncExternalStore } from 'react'

const subscribe = (listener: () => void) => {
  window.addEventListener('online', listener)
  window.addEventListener('offline', listener)
  return () => {
    window.removeEventListener('online', listener)
    window.removeEventListener('offline', listener)
  }
}

/** Whether what is shown may be old. */
export function useFreshness(): { isOffline: boolean } {
  return { isOffline: useSyncExternalStore(subscribe, () => !navigator.onLine) }
}
