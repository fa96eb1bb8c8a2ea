import { useState } from 'react'
import { ConfirmDialog } from '../parts/confirm-dialog.tsx'
import { explain } from '../parts/explain.ts'
import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { toast } from '../parts/toasts.tsx'
import { signOut, signOutEverywhere, useSession } from '../requests/session.ts'
import { allSignedIn } from '../requests/signed-in.ts'

/** Another workspace is another page: what was read and the socket are dropped by leaving this one. */
export function WorkspaceSwitcher() {
  const { workspace, key, role } = useSession()
  const signedIn = allSignedIn().map(({ id, name }) => ({
    words: name,
    isChecked: id === workspace.id,
    run: () => location.assign(`/w/${id}`),
  }))
  const [isAsking, setAsking] = useState(false)
  const leave = (by: (workspace: string) => Promise<void>) =>
    void by(workspace.id).catch((error: unknown) => {
      const { title, detail } = explain(error)
      toast({ kind: 'bad', title: `Not signed out: ${title}`, text: detail })
    })
  return (
    <>
      <Menu
        align="start"
        groups={[
          signedIn,
          [
            { words: 'Sign in to another workspace', icon: 'key', run: () => location.assign('/sign-in') },
            { words: 'Sign out', icon: 'sign-out', run: () => leave(signOut) },
            { words: 'Sign out everywhere', icon: 'sign-out', run: () => setAsking(true) },
          ],
        ]}
        title={`${key.name} · ${role}`}
        trigger={
          <button
            className="touchable inline-flex h-8 min-w-0 items-center gap-1 rounded-card px-2 text-body font-medium hover:bg-hover"
            type="button"
          >
            <span className="sr-only">Workspace </span>
            <span className="max-w-40 truncate">{workspace.name}</span>
            <Icon className="text-muted" name="chevron-down" size={14} />
          </button>
        }
      />
      <ConfirmDialog
        confirm="Sign out everywhere"
        onClose={() => setAsking(false)}
        onConfirm={() => leave(signOutEverywhere)}
        open={isAsking}
        text={`Ends all sessions of the key “${key.name}” in this workspace, in every browser, and its unused sign-in links. The key itself stays valid.`}
        title="Sign out everywhere?"
      />
    </>
  )
}
