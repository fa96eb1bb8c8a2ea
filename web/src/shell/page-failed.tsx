import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { isConnected } from '../live/freshness.ts'
import { useFreshness } from '../live/hooks.ts'
import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { Page } from '../parts/page.tsx'
import { ProblemBox } from '../parts/problem.tsx'
import { PageNotLoaded } from './page-not-loaded.ts'

// The server was updated, and the files of the old app are gone.
const isOfAnOldVersion = (error: unknown) =>
  error instanceof Error && /module script|imported module|importing a module/i.test(error.message)

/** In place of a page that failed; the frame around it stays. */
export function PageFailed({ error, reset }: ErrorComponentProps) {
  if (error instanceof PageNotLoaded) return <NotLoadedYet onAgain={reset} />
  if (isOfAnOldVersion(error)) return <PartNotLoaded />
  return (
    <Page title="Something failed">
      <ProblemBox error={error} onRetry={reset} />
    </Page>
  )
}

/** A part of the page is in a file of its own, which did not come. */
function PartNotLoaded() {
  const isBack = isConnected(useFreshness().freshness)
  return (
    <Page title={isBack ? 'A new version is available' : 'Not loaded yet'}>
      <Empty
        action={
          <Button
            disabledReason={isBack ? null : 'The server does not answer: nothing would be left.'}
            kind="primary"
            onClick={() => location.reload()}
          >
            Reload
          </Button>
        }
        drawing="handover"
        text={
          isBack
            ? 'This page belongs to a newer version of the app than the one that is open.'
            : 'A part of this page is not loaded yet, and the server does not answer. Reload the page when the connection is back.'
        }
        title="This page could not be loaded"
      />
    </Page>
  )
}

/** It opens by itself as soon as the server is there again. */
function NotLoadedYet({ onAgain }: { onAgain: () => void }) {
  const router = useRouter()
  const isBack = isConnected(useFreshness().freshness)
  const wasAway = useRef(!isBack)
  const tryAgain = () => void router.invalidate().then(onAgain)
  const latest = useRef(tryAgain)
  useEffect(() => {
    latest.current = tryAgain
  })
  useEffect(() => {
    if (!isBack) wasAway.current = true
    else if (wasAway.current) latest.current()
  }, [isBack])
  return (
    <Page title="Not loaded yet">
      <Empty
        action={<Button onClick={tryAgain}>Try again</Button>}
        drawing="handover"
        text="You have not opened this page before, and the server does not answer. It opens by itself when the connection is back."
        title="This page is not loaded yet"
      />
    </Page>
  )
}
