import type { ReactNode } from 'react'
import { PageLink } from '../../links.tsx'

/** A part of the overview, whose title leads to all of it. */
export const Box = (props: { title: string; to: string; note?: ReactNode; children: ReactNode }) => (
  <section className="flex min-w-0 flex-col gap-2 rounded-card border border-line bg-raised px-4 py-3">
    <h2 className="flex items-baseline gap-2 text-row font-medium">
      <PageLink className="hover:text-accent hover:underline" to={props.to}>
        {props.title}
      </PageLink>
      {props.note && <span className="font-normal text-muted">{props.note}</span>}
    </h2>
    {props.children}
  </section>
)
