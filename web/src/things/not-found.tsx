import { PageLink } from '../links.tsx'
import { Empty } from '../parts/empty.tsx'
import { Page } from '../parts/page.tsx'

export function NotFound() {
  return (
    <Page title="Not found">
      <Empty
        action={
          <PageLink className="font-medium text-accent hover:underline" to="/">
            Go to the first page
          </PageLink>
        }
        drawing="search"
        text="Nothing in this workspace has this address. The link may be old, or it may belong to another workspace."
        title="There is no such page"
      />
    </Page>
  )
}
