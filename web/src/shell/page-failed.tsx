import type { ErrorComponentProps } from '@tanstack/react-router'
import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { Page } from '../parts/page.tsx'
import { ProblemBox } from '../parts/problem.tsx'

// The server was updated, and the files of the old app are gone.
const isOfAnOldVersion = (error: unknown) =>
  error instanceof Error && /module script|imported module|importing a module/i.test(error.message)

/** In place of a page that failed; the frame around it stays. */
export function PageFailed({ error, reset }: ErrorComponentProps) {
  if (isOfAnOldVersion(error))
    return (
      <Page title="A new version is available">
        <Empty
          action={
            <Button kind="primary" onClick={() => location.reload()}>
              Reload
            </Button>
          }
          drawing="handover"
          text="This page belongs to a newer version of the app than the one that is open, or the server does not answer."
          title="This page could not be loaded"
        />
      </Page>
    )
  return (
    <Page title="Something failed">
      <ProblemBox error={error} onRetry={reset} />
    </Page>
  )
}
