/** What the tabs of a workspace know of each other. A lock ends with its tab, however that ends. */

const tellsFor = (workspaceId: string) => `baton tells ${workspaceId}`
const inView = (workspaceId: string) => `baton in view ${workspaceId}`

/** Holds a lock until the function that it returns is called. */
function hold(name: string, mode: LockMode, held: () => void): () => void {
  const waiting = new AbortController()
  let release = () => {}
  const holding = () =>
    new Promise<void>((settle) => {
      release = settle
      held()
    })
  // Refused only when it is given up before its turn.
  navigator.locks.request(name, { mode, signal: waiting.signal }, holding).catch(() => undefined)
  return () => {
    waiting.abort()
    release()
  }
}

/** One tab of a workspace tells; when it is closed, the next one does. */
export const onTurn = (workspaceId: string, begin: () => void) =>
  hold(tellsFor(workspaceId), 'exclusive', begin)

/** Says to the others that this tab is in view, while it is. `seen`: this one or another one was looked at. */
export function watchView(workspaceId: string, seen: () => void): () => void {
  const channel = new BroadcastChannel(inView(workspaceId))
  const hear = new AbortController()
  let hide = () => {}
  const look = () => {
    hide()
    hide = document.hidden ? () => {} : hold(inView(workspaceId), 'shared', () => {})
    if (document.hidden) return
    channel.postMessage('seen')
    seen()
  }
  channel.onmessage = seen
  document.addEventListener('visibilitychange', look, { signal: hear.signal })
  look()
  return () => {
    hear.abort()
    channel.close()
    hide()
  }
}

/** Whether any tab of the workspace is in view: then nobody has all of the lock. */
export const isInView = (workspaceId: string): Promise<boolean> =>
  navigator.locks.request(inView(workspaceId), { ifAvailable: true }, async (lock) => lock === null)
