import { Button } from '../parts/button.tsx'
import { useSession } from '../requests/session.ts'

/** The server was updated while the page was open. Nothing is reloaded automatically: the user may be typing. */
export function NewVersion() {
  const { version } = useSession()
  if (version === __BATON_VERSION__) return null
  return (
    <div
      className="flex items-center justify-center gap-3 bg-go-tint px-4 py-1.5 text-row text-go"
      role="status"
    >
      A new version is available.
      <Button onClick={() => location.reload()} size="small">
        Reload
      </Button>
    </div>
  )
}
